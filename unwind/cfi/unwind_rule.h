// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "base/registers.h"

namespace jitprof {

// A step of a DWARF expression: opcode (DW_OP_*) and decoded operand. Of DW_OP_skip and DW_OP_bra the operand
// is the index of the step they go to; DW_OP_bregx is written as DW_OP_breg0 + n.
struct ExpressionOp {
  uint8_t op = 0;
  uint64_t operand = 0;
  auto operator<=>(const ExpressionOp&) const = default;
};
using Expression = std::span<const ExpressionOp>;

// How the caller gets one register back. DWARF 5, 6.4.1.
struct RegisterRule {
  enum class Kind : uint8_t {
    kUndefined,     // gone; for the return address: there is no caller
    kSameValue,     // as in this frame
    kAtCfaOffset,   // in memory at CFA + offset
    kCfaOffset,     // CFA + offset itself
    kInRegister,    // in another register of this frame (vfork keeps the return address in rdi)
    kAtExpression,  // in memory where the expression points
    kExpression,    // the expression's value
  };
  Register number{};  // of the register that is got back
  Kind kind = Kind::kUndefined;
  Register other{};
  uint8_t expression = 0;  // index into UnwindRule::expressions
  int32_t offset = 0;
  auto operator<=>(const RegisterRule&) const = default;
};
static_assert(sizeof(RegisterRule) == 8);

// The rule of a register that a row does not mention (psABI, 3.2.1): the callee saves some registers, the
// caller's rsp is the CFA, and the others may hold anything.
constexpr RegisterRule unmentioned(Register number) {
  using Kind = RegisterRule::Kind;
  if (number == Register::rsp) return {.number = number, .kind = Kind::kCfaOffset};
  bool is_kept = is_callee_saved(number) || number == Register::rip;
  return {.number = number, .kind = is_kept ? Kind::kSameValue : Kind::kUndefined};
}

// One distinct row of CFI: how to leave the frames whose pcs it covers. Belongs to an UnwindTable and views
// its memory. Small, since the dictionary is half of a small file's table.
struct UnwindRule {
  enum class Cfa : uint8_t { kRegisterOffset, kExpression };
  Cfa cfa : 1 = Cfa::kRegisterOffset;
  bool is_signal_frame : 1 = false;  // the caller was interrupted: its pc is exact
  uint8_t register_count : 6 = 0;
  Register cfa_register{};
  uint8_t cfa_expression = 0;  // index into expressions
  int32_t cfa_offset = 0;
  const RegisterRule* first_register = nullptr;
  const Expression* expressions = nullptr;

  // That differ from unmentioned(); rip, the return address, comes first.
  std::span<const RegisterRule> registers() const { return {first_register, register_count}; }
  RegisterRule of(Register number) const {
    for (const RegisterRule& rule : registers()) {
      if (rule.number == number) return rule;
    }
    return unmentioned(number);
  }
  // Nothing called this frame.
  bool is_root() const {
    if (register_count == 0) return false;
    return first_register->number == Register::rip && first_register->kind == RegisterRule::Kind::kUndefined;
  }
};
static_assert(sizeof(UnwindRule) == 24 && kRegisterCount < 64);

}  // namespace jitprof
