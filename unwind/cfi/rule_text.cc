// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/rule_text.h"

namespace jitprof {
namespace {

std::string with_offset(const std::string& base, int64_t offset) {
  if (offset == 0) return base;
  return base + (offset > 0 ? "+" : "") + std::to_string(offset);
}

std::string to_text(const RegisterRule& rule) {
  switch (rule.kind) {
    case RegisterRule::Kind::kUndefined:
      return "undefined";
    case RegisterRule::Kind::kSameValue:
      return "same";
    case RegisterRule::Kind::kAtCfaOffset:
      return "[" + with_offset("cfa", rule.offset) + "]";
    case RegisterRule::Kind::kCfaOffset:
      return with_offset("cfa", rule.offset);
    case RegisterRule::Kind::kInRegister:
      return name_of(rule.other);
    case RegisterRule::Kind::kAtExpression:
      return "[expression]";
    case RegisterRule::Kind::kExpression:
      return "expression";
  }
  return "";
}

}  // namespace

std::string to_text(const UnwindRule& rule) {
  if (rule.is_root()) return "root";
  std::string text = "cfa=";
  bool by_register = rule.cfa == UnwindRule::Cfa::kRegisterOffset;
  text += by_register ? with_offset(name_of(rule.cfa_register), rule.cfa_offset) : "expression";
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    RegisterRule::Kind kind = rule.of(number).kind;
    // The caller's rsp is the CFA by definition, and nothing is said of a scratch register.
    bool is_plain = kind == RegisterRule::Kind::kSameValue || kind == RegisterRule::Kind::kUndefined;
    if (is_plain || number == Register::rsp) continue;
    text += std::string(" ") + name_of(number) + "=" + to_text(rule.of(number));
  }
  if (rule.is_signal_frame) text += " (signal frame)";
  return text;
}

}  // namespace jitprof
