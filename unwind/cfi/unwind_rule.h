// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "base/registers.h"

namespace jitprof {

// A step of a DWARF expression: opcode and operands already decoded (DW_OP_*).
struct ExpressionOp {
  uint8_t op = 0;
  uint64_t first = 0;
  uint64_t second = 0;
  uint32_t target = 0;  // index of the op that DW_OP_skip and DW_OP_bra go to
  auto operator<=>(const ExpressionOp&) const = default;
};
using Expression = std::vector<ExpressionOp>;

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
  Kind kind = Kind::kSameValue;
  Register other{};
  int64_t offset = 0;
  uint32_t expression = 0;  // index into UnwindRule::expressions
  auto operator<=>(const RegisterRule&) const = default;
};

// One row of CFI: how to leave the frame whose pc it covers.
struct UnwindRule {
  enum class Cfa : uint8_t { kRegisterOffset, kExpression };
  Cfa cfa = Cfa::kRegisterOffset;
  Register cfa_register{};
  int64_t cfa_offset = 0;
  uint32_t cfa_expression = 0;
  bool is_signal_frame = false;                        // the caller was interrupted: its pc is exact
  std::array<RegisterRule, kRegisterCount> registers;  // by DWARF number; rip is the return address
  std::vector<Expression> expressions;
  auto operator<=>(const UnwindRule&) const = default;

  const RegisterRule& of(Register number) const { return registers[static_cast<unsigned>(number)]; }
  bool is_root() const { return of(Register::rip).kind == RegisterRule::Kind::kUndefined; }
};

}  // namespace jitprof
