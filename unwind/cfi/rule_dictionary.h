// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>

#include "unwind/cfi/expression_pool.h"
#include "unwind/cfi/frame_state.h"
#include "unwind/cfi/rule_pool.h"

namespace jitprof {

// Gives each distinct state of the CFI programs of one module a number (libc: 395 for 28,000 rows).
class RuleDictionary {
 public:
  // RowList::kGap for a state that does not say where the CFA is or who called; nullopt when all numbers are
  // taken.
  std::optional<uint16_t> number_of(const FrameState& state);
  ExpressionPool& expressions() { return expressions_; }
  RulePool pool() const;

 private:
  using Numbers = std::map<FrameState, uint16_t>;

  Numbers numbers_;
  // The states met last, by hash. The map alone, which no forged section can slow down, takes half as long
  // again.
  std::array<const Numbers::value_type*, 1024> recent_{};
  ExpressionPool expressions_;
};

}  // namespace jitprof
