// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/registers.h"
#include "unwind/cfi/unwind_rule.h"
#include "unwind/stack_memory.h"

namespace jitprof {

// The canonical frame position by the frame's rule: sp in the caller at its call.
Recovered cfa_of(const UnwindRule& rule, const Registers& registers, const StackMemory& memory);

// Gives `caller` the registers of the calling frame; those that cannot be recovered are unavailable. The
// reason when the program counter is among them; not to be asked of a rule that is_root(). `is_exact`: the
// frame is a leaf or was interrupted. A slot that CFI names below its rsp is of a register that has been
// popped, and holds what the slot held: compilers write no restore, since the bytes below rsp keep their
// value, but a sample does not have them. (Of 2.1 million rows of nine large files 680,000 have such slots;
// in none was the register saved there to begin with.) Without this, clang code with frame pointers lost four
// stacks in ten.
std::optional<StopReason> recover_caller(const UnwindRule& rule, uint64_t cfa, const Registers& registers,
                                         const StackMemory& memory, bool is_exact, Registers& caller);

}  // namespace jitprof
