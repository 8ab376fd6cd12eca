// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/rule_pool_writer.h"

#include <algorithm>
#include <ranges>

namespace jitprof {
namespace {

// In the order in which prologues push them, so that the rows of one prologue begin with each other's lists.
bool is_pushed_before(const RegisterRule& a, const RegisterRule& b) {
  bool is_return_address = a.number == Register::rip;
  if (is_return_address != (b.number == Register::rip)) return is_return_address;
  return a.offset > b.offset;
}

}  // namespace

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
  std::ranges::stable_sort(registers, is_pushed_before);
  draft.rule.register_count = static_cast<uint8_t>(registers.size());
  draft.registers = &*register_lists_.try_emplace(std::move(registers), 0).first;
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

// The longest first: a list that another one begins with has its place there.
void RulePoolWriter::place_registers() {
  std::span<const RegisterRule> last;
  size_t last_place = 0;
  for (auto& [list, place] : std::views::reverse(register_lists_)) {
    bool is_in_last = list.size() <= last.size() && std::ranges::equal(list, last.first(list.size()));
    if (!is_in_last) {
      last_place = pool_.registers.size();
      pool_.registers.insert(pool_.registers.end(), list.begin(), list.end());
      last = list;
    }
    place = last_place;
  }
  pool_.registers.shrink_to_fit();
}

RulePool RulePoolWriter::finish() && {
  place_registers();
  pool_.ops.shrink_to_fit();
  for (auto [first, count] : expressions_) {
    pool_.expressions.push_back(Expression(pool_.ops).subspan(first, count));
  }
  pool_.expressions.shrink_to_fit();
  pool_.rules.reserve(drafts_.size());
  for (Draft& draft : drafts_) {
    draft.rule.first_register = pool_.registers.data() + draft.registers->second;
    draft.rule.expressions = pool_.expressions.data() + draft.first_expression;
    pool_.rules.push_back(draft.rule);
  }
  return std::move(pool_);
}

}  // namespace jitprof
