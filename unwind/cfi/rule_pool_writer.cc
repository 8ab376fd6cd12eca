// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/rule_pool_writer.h"

namespace jitprof {

void RulePoolWriter::add(const FrameState& state) {
  Draft draft;
  draft.rule.is_signal_frame = state.is_signal_frame;
  draft.rule.cfa = state.cfa.kind;
  draft.rule.cfa_register = state.cfa.base;
  draft.rule.cfa_offset = state.cfa.offset;
  draft.first_expression = expressions_.size();
  if (state.cfa.kind == UnwindRule::Cfa::kExpression) {
    draft.rule.cfa_expression = add_expression(state.cfa.expression, draft);
  }
  std::vector<RegisterRule> registers;
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    RegisterRule rule = register_rule(static_cast<Register>(i), state.columns[i], draft);
    if (rule != unmentioned(rule.number)) registers.push_back(rule);
  }
  draft.register_count = registers.size();
  draft.first_register = place_of(registers);
  drafts_.push_back(draft);
}

RegisterRule RulePoolWriter::register_rule(Register number, const ColumnRule& column, Draft& draft) {
  if (column.is_lost()) return {.number = number, .kind = RegisterRule::Kind::kUndefined};
  RegisterRule rule{.number = number, .kind = column.kind, .other = column.other, .offset = column.offset};
  bool has_expression =
      column.kind == RegisterRule::Kind::kExpression || column.kind == RegisterRule::Kind::kAtExpression;
  if (has_expression) rule.expression = add_expression(column.expression, draft);
  return rule;
}

uint8_t RulePoolWriter::add_expression(ExpressionNumber number, Draft& draft) {
  auto [place, is_new] = op_places_.try_emplace(number, pool_.ops.size());
  const std::vector<ExpressionOp>& ops = source_.ops(number);
  if (is_new) pool_.ops.insert(pool_.ops.end(), ops.begin(), ops.end());
  expressions_.push_back({place->second, ops.size()});
  return static_cast<uint8_t>(draft.expression_count++);
}

size_t RulePoolWriter::place_of(const std::vector<RegisterRule>& registers) {
  auto [place, is_new] = register_places_.try_emplace(registers, pool_.registers.size());
  if (is_new) pool_.registers.insert(pool_.registers.end(), registers.begin(), registers.end());
  return place->second;
}

RulePool RulePoolWriter::finish() && {
  pool_.registers.shrink_to_fit();
  pool_.ops.shrink_to_fit();
  for (auto [first, count] : expressions_) {
    pool_.expressions.push_back(Expression(pool_.ops).subspan(first, count));
  }
  pool_.expressions.shrink_to_fit();
  pool_.rules.reserve(drafts_.size());
  for (Draft& draft : drafts_) {
    draft.rule.register_count = static_cast<uint8_t>(draft.register_count);
    draft.rule.first_register = pool_.registers.data() + draft.first_register;
    draft.rule.expressions = pool_.expressions.data() + draft.first_expression;
    pool_.rules.push_back(draft.rule);
  }
  return std::move(pool_);
}

}  // namespace jitprof
