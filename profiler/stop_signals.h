// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include "profiler/fd.h"

namespace jitprof {

// Takes SIGINT and SIGTERM over for as long as it lives, as something to poll. SIGPIPE is held back too, so
// that a reader of our output that went away is an error of write() and not our end.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return file_.number(); }
  // The number of a stop signal that came, 0 if none did.
  int take();
  // In a forked child before exec: everything as it was before us.
  void restore_in_child() const;

 private:
  Fd file_;
  sigset_t mask_before_;
  struct sigaction interrupt_before_;
  struct sigaction terminate_before_;
};

}  // namespace jitprof
