// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/libdw_rows.h"

#include <dwarf.h>

#include <cstdlib>
#include <span>

#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

using Ops = std::span<const Dwarf_Op>;
using Kind = RegisterRule::Kind;
using Steps = std::vector<ExpressionOp>;

// The index of the operation that the branch ops[at] leads to. libdw puts the CFA in front of register
// expressions as an operation without a place of its own.
std::optional<uint64_t> branch_target(Ops ops, size_t at) {
  uint64_t wanted = ops[at].offset + 3 + static_cast<int64_t>(static_cast<int16_t>(ops[at].number));
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].offset == wanted && !(i == 0 && ops[i].atom == DW_OP_call_frame_cfa)) return i;
  }
  return wanted > ops.back().offset ? std::optional<uint64_t>(ops.size()) : std::nullopt;
}

std::optional<Steps> steps_of(Ops ops) {
  if (ops.empty()) return std::nullopt;
  Steps steps;
  for (size_t i = 0; i < ops.size(); ++i) {
    ExpressionOp step{ops[i].atom, ops[i].number};
    if (step.op == DW_OP_skip || step.op == DW_OP_bra) {
      auto target = branch_target(ops, i);
      if (!target) return std::nullopt;
      step.operand = *target;
    }
    steps.push_back(step);
  }
  return steps;
}

bool translate_cfa(Ops ops, PlainRule& rule) {
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
  auto steps = steps_of(ops);
  if (steps) rule.cfa_expression = *steps;
  return steps.has_value();
}

// The distance from the CFA when the operations are just that.
std::optional<int64_t> cfa_offset_of(Ops ops) {
  if (ops.empty() || ops[0].atom != DW_OP_call_frame_cfa) return std::nullopt;
  if (ops.size() == 1) return 0;
  if (ops.size() == 2 && ops[1].atom == DW_OP_plus_uconst) return static_cast<int64_t>(ops[1].number);
  return std::nullopt;
}

std::optional<PlainRule::Column> translate_register(Dwarf_Frame* frame, int number) {
  Dwarf_Op memory[3];
  Dwarf_Op* raw = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, number, memory, &raw, &count) != 0) return std::nullopt;
  if (count == 0) return PlainRule::Column{.kind = raw == nullptr ? Kind::kSameValue : Kind::kUndefined};
  Ops ops(raw, count);
  if (count == 1 && ops[0].atom == DW_OP_regx) {
    if (ops[0].number >= kRegisterCount) return std::nullopt;
    return PlainRule::Column{.kind = Kind::kInRegister, .other = static_cast<Register>(ops[0].number)};
  }
  bool is_value = ops.back().atom == DW_OP_stack_value;
  if (is_value) ops = ops.first(count - 1);
  if (auto offset = cfa_offset_of(ops)) {
    return PlainRule::Column{.kind = is_value ? Kind::kCfaOffset : Kind::kAtCfaOffset, .offset = *offset};
  }
  auto steps = steps_of(ops);
  if (!steps) return std::nullopt;
  return PlainRule::Column{.kind = is_value ? Kind::kExpression : Kind::kAtExpression, .expression = *steps};
}

std::optional<PlainRule> translate(Dwarf_Frame* frame, int return_column, bool is_signal_frame) {
  PlainRule rule{.is_signal_frame = is_signal_frame};
  Dwarf_Op* cfa = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &cfa, &count) != 0 || count == 0) return std::nullopt;
  if (!translate_cfa(Ops(cfa, count), rule)) return std::nullopt;
  constexpr int kReturnAddress = static_cast<int>(Register::rip);
  for (int i = 0; i < kReturnAddress; ++i) {
    rule.columns[i] = translate_register(frame, i).value_or(PlainRule::Column());
  }
  // Of the registers that CFI does not mention libdw 0.188 takes register 0 (rax) for callee-saved, where the
  // ABI has rbx.
  PlainRule::Column& rax = rule.columns[static_cast<int>(Register::rax)];
  PlainRule::Column& rbx = rule.columns[static_cast<int>(Register::rbx)];
  if (rax.kind == Kind::kSameValue) rax.kind = Kind::kUndefined;
  if (rbx.kind == Kind::kUndefined) rbx.kind = Kind::kSameValue;
  auto return_rule = translate_register(frame, return_column);
  if (!return_rule) return std::nullopt;
  rule.columns[kReturnAddress] = *return_rule;
  return rule;
}

}  // namespace

PlainRule plain(const UnwindRule& rule) {
  auto steps = [&](unsigned index) {
    Expression expression = rule.expressions[index];
    return Steps(expression.begin(), expression.end());
  };
  PlainRule result{.is_signal_frame = rule.is_signal_frame};
  if (rule.cfa == UnwindRule::Cfa::kExpression) {
    result.cfa_expression = steps(rule.cfa_expression);
  } else {
    result.cfa_register = rule.cfa_register;
    result.cfa_offset = rule.cfa_offset;
  }
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    RegisterRule how = rule.of(static_cast<Register>(i));
    result.columns[i] = {.kind = how.kind, .other = how.other, .offset = how.offset};
    bool has_expression = how.kind == Kind::kAtExpression || how.kind == Kind::kExpression;
    if (has_expression) result.columns[i].expression = steps(how.expression);
  }
  return result;
}

LibdwRows::LibdwRows(const std::string& path, Section section) : image_(read_file(path)) {
  elf_version(EV_CURRENT);
  elf_.reset(elf_memory(image_.data(), image_.size()));
  if (section == Section::kEhFrame) {
    own_cfi_.reset(dwarf_getcfi_elf(elf_.get()));
    cfi_ = own_cfi_.get();
  } else {
    dwarf_.reset(dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
    if (dwarf_ != nullptr) cfi_ = dwarf_getcfi(dwarf_.get());
  }
}

std::optional<LibdwRows::Row> LibdwRows::find(uint64_t position) const {
  Dwarf_Frame* frame = nullptr;
  if (cfi_ == nullptr || dwarf_cfi_addrframe(cfi_, position, &frame) != 0) return std::nullopt;
  std::unique_ptr<Dwarf_Frame, decltype(&std::free)> owner(frame, &std::free);
  Row row;
  bool is_signal_frame = false;
  int return_column = dwarf_frame_info(frame, &row.start, &row.end, &is_signal_frame);
  if (return_column < 0) return std::nullopt;
  row.rule = translate(frame, return_column, is_signal_frame);
  return row;
}

}  // namespace jitprof::tests
