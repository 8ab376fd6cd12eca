// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

// The steps of a DWARF expression as CFI has them. `starts_with_cfa`: it finds the CFA on its stack (every
// register rule does), which is written as a first step of its own. nullopt when the bytes end inside a step,
// a branch leads into the middle of one, or an operation or a register is none that evaluate() knows.
std::optional<std::vector<ExpressionOp>> decode_expression(Bytes bytes, bool starts_with_cfa);

}  // namespace jitprof
