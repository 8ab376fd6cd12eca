// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "profiler/record.h"

namespace jitprof::tests {

// A process of its own that records.
class RecorderProcess {
 public:
  explicit RecorderProcess(const RecordOptions& options);
  ~RecorderProcess();
  void send(int number);
  // Sends the signal and waits: exit status or 128 + signal.
  int end(int number);
  // The program it runs, once it does; 0 if that takes forever.
  pid_t command(const std::string& comm) const;

 private:
  pid_t pid_;
};

// Returns after 100 s whether it is done or not.
void wait_until(const std::function<bool()>& is_done);

}  // namespace jitprof::tests
