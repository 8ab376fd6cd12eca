// SPDX-License-Identifier: Apache-2.0
#include "unwind/quick_rule.h"

#include <dwarf.h>

#include <array>
#include <limits>
#include <optional>

namespace jitprof {
namespace {

// What linkers write for a PLT: rsp + 8, and 8 more from byte `k` of a 16-byte entry on, where the entry has
// pushed its number. That depends on pc alone.
std::optional<int64_t> plt_cfa_offset(const Expression& expression, RuntimeAddr pc) {
  constexpr std::array<uint8_t, 9> kOps = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, DW_OP_lit0,
                                           DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus};
  constexpr size_t kLimit = 4;
  if (expression.size() != kOps.size()) return std::nullopt;
  for (size_t i = 0; i < kOps.size(); ++i) {
    uint8_t op = expression[i].op;
    bool is_limit = i == kLimit && op >= DW_OP_lit0 && op <= DW_OP_lit15;
    if (op != kOps[i] && !is_limit) return std::nullopt;
  }
  if (expression[0].operand != 8 || expression[1].operand != 0) return std::nullopt;
  uint64_t limit = expression[kLimit].op - DW_OP_lit0;
  return (pc.value & 15) >= limit ? 16 : 8;
}

}  // namespace

void simplify(const UnwindRule& rule, RuntimeAddr pc, CodePlace& place) {
  using Kind = RegisterRule::Kind;
  place.leave = Leave::kByRule;
  if (rule.is_root()) {
    place.leave = Leave::kRoot;
    return;
  }
  const RegisterRule return_pc = rule.of(Register::rip), sp = rule.of(Register::rsp),
                     fp = rule.of(Register::rbp);
  if (rule.is_signal_frame || sp.kind != Kind::kCfaOffset || sp.offset != 0) return;
  if (return_pc.kind != Kind::kAtCfaOffset || return_pc.offset != -8) return;
  bool fp_is_saved = fp.kind == Kind::kAtCfaOffset;
  if (!fp_is_saved && fp.kind != Kind::kSameValue) return;
  if (fp_is_saved) {
    if (fp.offset % 8 != 0 || fp.offset >= 0 || fp.offset < 8 * std::numeric_limits<int8_t>::min()) return;
    place.rbp_slot = static_cast<int8_t>(fp.offset / 8);
  }
  if (rule.cfa == UnwindRule::Cfa::kExpression) {
    auto offset = plt_cfa_offset(rule.expressions[rule.cfa_expression], pc);
    if (!offset) return;
    place.cfa_offset = static_cast<int32_t>(*offset);
    place.leave = Leave::kByRsp;
    return;
  }
  place.cfa_offset = static_cast<int32_t>(rule.cfa_offset);
  if (rule.cfa_register == Register::rsp) place.leave = Leave::kByRsp;
  if (rule.cfa_register == Register::rbp) place.leave = Leave::kByRbp;
}

}  // namespace jitprof
