// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <array>

#include "profiler/fd.h"

namespace jitprof {

// Takes SIGINT, SIGTERM and SIGHUP over for as long as it lives, as something to poll. SIGPIPE and SIGXFSZ
// are held back too, so that a reader of our output that went away and a limit on file sizes are errors of
// write() and not our end.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return file_.number(); }
  // The number of a stop signal that came, 0 if none did.
  int take();
  // Everything as it was before us; for a forked child before exec.
  void restore() const;

 private:
  Fd file_;
  sigset_t mask_before_;
  std::array<struct sigaction, 3> actions_before_;  // of the stop signals
};

}  // namespace jitprof
