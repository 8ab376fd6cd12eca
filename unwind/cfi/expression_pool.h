// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "unwind/cfi/frame_state.h"
#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

// The distinct expressions of a module's CFI, each under a number.
class ExpressionPool {
 public:
  // kInexpressible when the pool is full.
  ExpressionNumber number_of(std::vector<ExpressionOp> ops);
  const std::vector<ExpressionOp>& ops(ExpressionNumber number) const { return *by_number_[number]; }

 private:
  std::map<std::vector<ExpressionOp>, ExpressionNumber> numbers_;
  std::vector<const std::vector<ExpressionOp>*> by_number_;
  size_t op_count_ = 0;
};

}  // namespace jitprof
