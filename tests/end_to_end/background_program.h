// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace jitprof::tests {

// A program that runs beside the test and is ended, by its pid, when the test ends. Its output is thrown
// away.
class BackgroundProgram {
 public:
  explicit BackgroundProgram(const std::vector<std::string>& arguments);
  ~BackgroundProgram();
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  pid_t pid() const { return pid_; }
  // Sends a signal and waits for the end; gives the exit status, or 128 + signal.
  int end(int signal);

 private:
  pid_t pid_;
};

// Seconds of CPU time that a process has used so far, its threads included; children not.
double cpu_seconds_of(pid_t pid);

}  // namespace jitprof::tests
