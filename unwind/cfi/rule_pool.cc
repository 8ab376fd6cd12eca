// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/rule_pool.h"

namespace jitprof {

size_t RulePool::bytes() const {
  return rules.capacity() * sizeof(UnwindRule) + registers.capacity() * sizeof(RegisterRule) +
         expressions.capacity() * sizeof(Expression) + ops.capacity() * sizeof(ExpressionOp);
}

}  // namespace jitprof
