// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/unwind/traced_program.h"
#include "tests/unwind/walk_sample.h"

namespace jitprof::tests {

// What the stack of a stepped program must be, by the calls, returns and signals it was seen to do.
class ShadowStack {
 public:
  // `outer`: the walk where stepping began; its frames stay.
  explicit ShadowStack(KeptWalk outer) : outer_(std::move(outer)) {}

  // Takes in one step: the registers and the code at their rip before it.
  void follow(const user_regs_struct& before, const std::vector<std::byte>& code, TracedProgram::Step step,
              const TracedProgram& program);

  // Where the stack lies that a handler on another one interrupted, if it is outside the bytes from `sp` on.
  std::optional<uint64_t> interrupted_sp(uint64_t sp, size_t stack_bytes) const;

  // "" or what is wrong with a walk from the registers the program has now: pcs, CFAs, callee-saved registers
  // (all, where a signal interrupted), the outer frames and the end.
  std::string difference_to(const KeptWalk& walk, const user_regs_struct& now) const;

 private:
  // A frame that goes on at registers.rip when what it called, or what interrupted it, is done.
  struct Activation {
    user_regs_struct registers;
    bool was_interrupted = false;
  };
  void enter_handler(const user_regs_struct& before, const TracedProgram& program);

  KeptWalk outer_;
  std::vector<Activation> activations_;  // outermost first
};

}  // namespace jitprof::tests
