// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace jitprof {

// What to record and how. Exactly one of command, pids and system_wide says whom.
struct RecordOptions {
  std::vector<std::string> command;
  std::vector<uint32_t> pids;
  bool system_wide = false;

  std::string output = "jitprof.data";  // "-" is standard output
  uint64_t frequency = 999;             // samples per second of each event
  std::vector<std::string> events;      // empty: cycles, else cpu-clock
  enum class CallGraph { kStack, kFramePointer } call_graph = CallGraph::kStack;
  uint32_t stack_size = 32768;  // bytes, at most 65528
  bool inherit = true;
  std::optional<double> duration_s;
  double delay_s = 0;
  // A command that is a runtime whose compiler can say what it compiles is told to (node, python 3.12 and
  // later); what it writes for that is removed in the end.
  bool sets_up_jit = true;

  // Called with one line for the user when something else than asked is done: "no hardware counter for cycles
  // here: recording cpu-clock", a smaller ring.
  std::function<void(const std::string&)> on_note;
};

// What a finished recording amounts to.
struct RecordSummary {
  uint64_t samples = 0;
  uint64_t lost = 0;
  double seconds = 0;
  uint64_t file_bytes = 0;
  // The command's own end: its exit status, or 128 + signal. 0 when attached or when -d ended it.
  int command_status = 0;
};

// Why there is no recording, with record's exit status: 125, or 126 and 127 for the command itself.
struct RecordFailure {
  int exit_status = 125;
  std::string message;
};

// Records until the target ends, the duration is over, or SIGINT or SIGTERM comes (both are taken over for
// the time of the call). Everything drained before is in the file whatever happens. Single-threaded.
std::variant<RecordSummary, RecordFailure> record(const RecordOptions& options);

}  // namespace jitprof
