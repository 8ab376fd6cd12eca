// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/cfi_row.h"

#include <dwarf.h>

#include <algorithm>
#include <span>

namespace jitprof {
namespace {

using Ops = std::span<const Dwarf_Op>;
using Kind = RegisterRule::Kind;

// The longest CFI expression in Debian 12's libraries has 11 operations.
constexpr size_t kMaxOps = 256;

// The index of the operation that a DW_OP_skip or DW_OP_bra at ops[at] leads to. The operand counts from the
// end of the branch, which is three bytes long. One past the last operation is a legal target.
std::optional<uint32_t> branch_target(Ops ops, size_t at) {
  uint64_t wanted = ops[at].offset + 3 + static_cast<int64_t>(static_cast<int16_t>(ops[at].number));
  for (size_t i = 0; i < ops.size(); ++i) {
    // libdw puts the CFA in front of register expressions as an operation without a place of its own.
    if (ops[i].offset == wanted && !(i == 0 && ops[i].atom == DW_OP_call_frame_cfa)) return i;
  }
  return wanted > ops.back().offset ? std::optional<uint32_t>(ops.size()) : std::nullopt;
}

std::optional<Expression> translate_expression(Ops ops) {
  if (ops.empty() || ops.size() > kMaxOps) return std::nullopt;
  Expression expression;
  for (size_t i = 0; i < ops.size(); ++i) {
    ExpressionOp op{.op = ops[i].atom, .first = ops[i].number, .second = ops[i].number2};
    if (op.op == DW_OP_skip || op.op == DW_OP_bra) {
      auto target = branch_target(ops, i);
      if (!target) return std::nullopt;
      op.target = *target;
    }
    expression.push_back(op);
  }
  return expression;
}

bool translate_cfa(Ops ops, UnwindRule& rule) {
  if (ops.size() == 1) {
    const Dwarf_Op& op = ops.front();
    bool is_short = op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31;
    if (is_short || op.atom == DW_OP_bregx) {
      uint64_t number = is_short ? op.atom - DW_OP_breg0 : op.number;
      if (number >= kRegisterCount) return false;
      rule.cfa_register = static_cast<Register>(number);
      rule.cfa_offset = static_cast<int64_t>(is_short ? op.number : op.number2);
      return true;
    }
  }
  auto expression = translate_expression(ops);
  if (!expression) return false;
  rule.cfa = UnwindRule::Cfa::kExpression;
  rule.cfa_expression = rule.expressions.size();
  rule.expressions.push_back(std::move(*expression));
  return true;
}

// The distance from the CFA when the operations are just that.
std::optional<int64_t> cfa_offset_of(Ops ops) {
  if (ops.empty() || ops[0].atom != DW_OP_call_frame_cfa) return std::nullopt;
  if (ops.size() == 1) return 0;
  if (ops.size() == 2 && ops[1].atom == DW_OP_plus_uconst) return static_cast<int64_t>(ops[1].number);
  return std::nullopt;
}

// nullopt when the rule cannot be expressed. `rule` takes the expression, if there is one.
std::optional<RegisterRule> translate_register(Dwarf_Frame* frame, int number, UnwindRule& rule) {
  Dwarf_Op memory[3];
  Dwarf_Op* raw = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, number, memory, &raw, &count) != 0) return std::nullopt;
  if (count == 0) return RegisterRule{.kind = raw == nullptr ? Kind::kSameValue : Kind::kUndefined};
  Ops ops(raw, count);
  if (count == 1 && ops[0].atom == DW_OP_regx) {
    if (ops[0].number >= kRegisterCount) return std::nullopt;
    return RegisterRule{.kind = Kind::kInRegister, .other = static_cast<Register>(ops[0].number)};
  }
  bool is_value = ops.back().atom == DW_OP_stack_value;
  if (is_value) ops = ops.first(count - 1);
  if (auto offset = cfa_offset_of(ops)) {
    return RegisterRule{.kind = is_value ? Kind::kCfaOffset : Kind::kAtCfaOffset, .offset = *offset};
  }
  auto expression = translate_expression(ops);
  if (!expression) return std::nullopt;
  RegisterRule result{.kind = is_value ? Kind::kExpression : Kind::kAtExpression,
                      .expression = static_cast<uint32_t>(rule.expressions.size())};
  rule.expressions.push_back(std::move(*expression));
  return result;
}

}  // namespace

std::optional<UnwindRule> translate_row(Dwarf_Frame* frame) {
  UnwindRule rule;
  int return_column = dwarf_frame_info(frame, nullptr, nullptr, &rule.is_signal_frame);
  if (return_column < 0) return std::nullopt;

  Dwarf_Op* cfa = nullptr;
  size_t cfa_count = 0;
  if (dwarf_frame_cfa(frame, &cfa, &cfa_count) != 0 || cfa_count == 0) return std::nullopt;
  if (!translate_cfa(Ops(cfa, cfa_count), rule)) return std::nullopt;

  constexpr int kReturnAddress = static_cast<int>(Register::rip);
  for (int i = 0; i < kReturnAddress; ++i) {
    rule.registers[i] = translate_register(frame, i, rule).value_or(RegisterRule{.kind = Kind::kUndefined});
  }
  // What the ABI says of registers that CFI does not mention is libdw's to know, and 0.188 has it wrong: of
  // the callee-saved ones it lists register 0 (rax) where rbx is meant.
  RegisterRule& rax = rule.registers[static_cast<int>(Register::rax)];
  RegisterRule& rbx = rule.registers[static_cast<int>(Register::rbx)];
  if (rax.kind == Kind::kSameValue) rax.kind = Kind::kUndefined;
  if (rbx.kind == Kind::kUndefined) rbx.kind = Kind::kSameValue;

  auto return_rule = translate_register(frame, return_column, rule);
  if (!return_rule) return std::nullopt;
  rule.registers[kReturnAddress] = *return_rule;
  return rule;
}

}  // namespace jitprof
