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
// reason when the program counter is among them; not to be asked of a rule that is_root(). `in_epilogue`: the
// frame is on its way out, and registers whose slots lie below its rsp have been popped (epilogue.h).
std::optional<StopReason> recover_caller(const UnwindRule& rule, uint64_t cfa, const Registers& registers,
                                         const StackMemory& memory, bool in_epilogue, Registers& caller);

}  // namespace jitprof
