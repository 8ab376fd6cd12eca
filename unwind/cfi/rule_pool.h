// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

// The rules of a finished table and the memory they view. Moving it leaves them where they are.
struct RulePool {
  std::vector<UnwindRule> rules;  // by number
  std::vector<RegisterRule> registers;
  std::vector<Expression> expressions;
  std::vector<ExpressionOp> ops;

  RulePool() = default;
  RulePool(RulePool&&) = default;
  RulePool& operator=(RulePool&&) = default;
  size_t bytes() const;
};

}  // namespace jitprof
