// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/expression_pool.h"

namespace jitprof {
namespace {

// Debian 12's largest libraries have a hundred expressions of at most 11 steps.
constexpr size_t kMaxOps = 1 << 16;

}  // namespace

ExpressionNumber ExpressionPool::number_of(std::vector<ExpressionOp> ops) {
  if (auto known = numbers_.find(ops); known != numbers_.end()) return known->second;
  if (ops.size() > kMaxOps - op_count_) return kInexpressible;
  op_count_ += ops.size();
  auto number = static_cast<ExpressionNumber>(by_number_.size());
  auto place = numbers_.emplace(std::move(ops), number).first;
  by_number_.push_back(&place->first);
  return number;
}

}  // namespace jitprof
