// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/registers.h"
#include "unwind/cfi/unwind_rule.h"
#include "unwind/stack_memory.h"

namespace jitprof {

// The value a DWARF expression of a CFI rule leaves on top of its stack. Covers what compilers, glibc and
// linkers write there: PLT entries (a comparison of rip), stack realignment (a dereference), the signal
// trampoline. `cfa` is nullopt while the CFA itself is being computed. kUnreadable also when the expression
// uses an unavailable register, an operation that makes no sense in CFI, or runs past its limits; reads go to
// the recorded stack only.
Recovered evaluate(Expression expression, const Registers& registers, const StackMemory& memory,
                   std::optional<uint64_t> cfa);

}  // namespace jitprof
