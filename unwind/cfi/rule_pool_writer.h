// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "unwind/cfi/expression_pool.h"
#include "unwind/cfi/frame_state.h"
#include "unwind/cfi/rule_pool.h"

namespace jitprof {

// Writes states as rules: what they share is stored once. `expressions` holds those of the states and
// outlives it.
class RulePoolWriter {
 public:
  explicit RulePoolWriter(const ExpressionPool& expressions) : source_(expressions) {}

  // The next rule.
  void add(const FrameState& state);
  // The spans are made last, when nothing moves any more.
  RulePool finish() &&;

 private:
  using RegisterLists = std::map<std::vector<RegisterRule>, size_t>;  // and where each is in the pool
  struct Draft {
    UnwindRule rule;
    const RegisterLists::value_type* registers = nullptr;
    size_t first_expression = 0, expression_count = 0;
  };

  RegisterRule register_rule(Register number, const ColumnRule& column, Draft& draft);
  uint8_t add_expression(ExpressionNumber number, Draft& draft);
  void place_registers();

  const ExpressionPool& source_;
  RulePool pool_;
  std::vector<Draft> drafts_;
  std::vector<std::pair<size_t, size_t>> expressions_;  // first op and count of each Expression to come
  std::map<ExpressionNumber, size_t> op_places_;
  RegisterLists register_lists_;
};

}  // namespace jitprof
