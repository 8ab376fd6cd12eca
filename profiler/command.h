// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiler/fd.h"
#include "profiler/stop_signals.h"

namespace jitprof {

// The program that is recorded, as our child: forked and waiting until its events are open, then let go. If
// it is dropped before that, the child ends without running anything.
class Command {
 public:
  // `environment`: "NAME=VALUE", beside what we have.
  static Result<Command> fork(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment, bool output_to_stderr,
                              const StopSignals& signals);
  Command(Command&&) = default;
  Command& operator=(Command&&) = default;
  ~Command();

  uint32_t pid() const { return static_cast<uint32_t>(pid_); }
  // Readable once the program has ended.
  int end_fd() const { return end_.number(); }

  // Lets the child execute the program and waits until it does: 0, or the errno of exec.
  int start();
  // Waits for the end: its exit status, or 128 + signal. Signals that come meanwhile stop it the hard way.
  int wait(StopSignals& signals);
  bool ends_within(int grace_ms) const;
  // Sends SIGTERM if it has not ended within `grace_ms`.
  void ask_to_end(int grace_ms) const;

 private:
  Command() = default;
  pid_t pid_ = -1;
  Fd go_;
  Fd exec_error_;
  Fd end_;
};

// Exit status of record for a command that could not be executed: 127 not found, 126 found but not
// executable.
int exec_failure_status(int error);

}  // namespace jitprof
