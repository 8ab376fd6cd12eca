// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "base/registers.h"
#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

// The number of an expression in an ExpressionPool.
using ExpressionNumber = uint16_t;
// Stands for what cannot be expressed: an expression that cannot be decoded, an offset beyond 32 bits, a
// register that is none of ours.
inline constexpr ExpressionNumber kInexpressible = 0xffff;

// Where the CFA is. Nowhere until a program says so.
struct CfaRule {
  UnwindRule::Cfa kind = UnwindRule::Cfa::kExpression;
  Register base{};
  ExpressionNumber expression = kInexpressible;
  int32_t offset = 0;

  bool is_lost() const { return kind == UnwindRule::Cfa::kExpression && expression == kInexpressible; }
  auto operator<=>(const CfaRule&) const = default;
};

// How one register is got back.
struct ColumnRule {
  RegisterRule::Kind kind = RegisterRule::Kind::kUndefined;
  Register other{};
  ExpressionNumber expression = 0;
  int32_t offset = 0;

  static ColumnRule lost() {
    return {.kind = RegisterRule::Kind::kAtExpression, .expression = kInexpressible};
  }
  bool is_lost() const { return expression == kInexpressible; }
  auto operator<=>(const ColumnRule&) const = default;
};

// What a CFI program has said up to one place: a row before it is given a number. Starts as the ABI has it.
struct FrameState {
  CfaRule cfa;
  std::array<ColumnRule, kRegisterCount> columns = by_abi();  // by register number
  bool is_signal_frame = false;

  ColumnRule& of(Register number) { return columns[static_cast<unsigned>(number)]; }
  const ColumnRule& of(Register number) const { return columns[static_cast<unsigned>(number)]; }
  auto operator<=>(const FrameState&) const = default;

 private:
  static constexpr std::array<ColumnRule, kRegisterCount> by_abi() {
    std::array<ColumnRule, kRegisterCount> columns;
    for (unsigned i = 0; i < kRegisterCount; ++i) {
      columns[i].kind = unmentioned(static_cast<Register>(i)).kind;
    }
    return columns;
  }
};

}  // namespace jitprof
