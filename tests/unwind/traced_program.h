// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/event.h"
#include "unwind/space/process_table.h"

namespace jitprof::tests {

// A sample with the bytes it refers to.
struct TakenSample {
  Sample sample;
  std::vector<std::vector<std::byte>> stacks;
};

// A program that runs under this test's eyes: to its next breakpoint (an int3 of its own) or by single
// instructions, and can be sampled wherever it stands. Owns the process and ends it. One thread of the test
// must do all the calls (ptrace).
class TracedProgram {
 public:
  explicit TracedProgram(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment = {});
  ~TracedProgram();
  TracedProgram(const TracedProgram&) = delete;
  TracedProgram& operator=(const TracedProgram&) = delete;

  // Lets every thread run until one stands behind an int3; false when the program ended before. Fatal signals
  // are the program's end.
  bool run_to_breakpoint();

  enum class Step { kInstruction, kSignal, kBreakpoint, kEnded };
  // The stopped thread does one instruction; kSignal: a handler was entered instead and nothing of the
  // interrupted code ran.
  Step step();

  const user_regs_struct& registers() const { return registers_; }
  std::optional<uint64_t> word_at(uint64_t position) const;
  std::vector<std::byte> bytes_at(uint64_t position, size_t size) const;

  // The stopped thread, with up to `stack_bytes` of its stack, and of another one from `interrupted_sp` on.
  TakenSample sample(size_t stack_bytes, std::optional<uint64_t> interrupted_sp = std::nullopt) const;

  // What a recording would say of the process now: the image of its vdso, then its mappings.
  void tell(ModuleTable& modules, ProcessTable& processes) const;
  std::vector<MapEvent> maps() const;

 private:
  void read_registers();

  pid_t pid_ = -1;
  pid_t thread_ = -1;  // the one that stands at a breakpoint
  int memory_ = -1;
  int pending_signal_ = 0;
  user_regs_struct registers_{};
};

}  // namespace jitprof::tests
