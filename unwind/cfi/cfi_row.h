// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <optional>

#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

// The row libdw found, in our own terms. nullopt when it does not say where the CFA is. A register whose rule
// cannot be expressed is kUndefined, except the return address: a row that leaves the caller unknown for that
// reason is no row, lest it be taken for a root.
std::optional<UnwindRule> translate_row(Dwarf_Frame* frame);

}  // namespace jitprof
