// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/step.h"

#include "unwind/cfi/expression.h"

namespace jitprof {
namespace {

Recovered known(const Registers& registers, Register number) {
  auto value = registers.find(number);
  return value ? Recovered(*value) : Recovered(StopReason::kUnreadable);
}

Recovered recover(const UnwindRule& rule, Register number, uint64_t cfa, const Registers& registers,
                  const StackMemory& memory) {
  RegisterRule how = rule.of(number);
  switch (how.kind) {
    case RegisterRule::Kind::kUndefined:
      return StopReason::kUnreadable;
    case RegisterRule::Kind::kSameValue:
      return known(registers, number);
    case RegisterRule::Kind::kAtCfaOffset:
      return memory.read({cfa + how.offset});
    case RegisterRule::Kind::kCfaOffset:
      return cfa + how.offset;
    case RegisterRule::Kind::kInRegister:
      return known(registers, how.other);
    case RegisterRule::Kind::kAtExpression: {
      Recovered place = evaluate(rule.expressions[how.expression], registers, memory, cfa);
      return place.ok() ? memory.read({place.value()}) : place;
    }
    case RegisterRule::Kind::kExpression:
      return evaluate(rule.expressions[how.expression], registers, memory, cfa);
  }
  return StopReason::kUnreadable;
}

bool has_slot_below_sp(const RegisterRule& how, uint64_t cfa, const Registers& registers) {
  auto sp = registers.find(Register::rsp);
  return sp && how.kind == RegisterRule::Kind::kAtCfaOffset && cfa + how.offset < *sp;
}

}  // namespace

Recovered cfa_of(const UnwindRule& rule, const Registers& registers, const StackMemory& memory) {
  if (rule.cfa == UnwindRule::Cfa::kExpression) {
    return evaluate(rule.expressions[rule.cfa_expression], registers, memory, std::nullopt);
  }
  Recovered base = known(registers, rule.cfa_register);
  return base.ok() ? Recovered(base.value() + rule.cfa_offset) : base;
}

std::optional<StopReason> recover_caller(const UnwindRule& rule, uint64_t cfa, const Registers& registers,
                                         const StackMemory& memory, bool is_exact, Registers& caller) {
  caller = Registers();
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    bool is_popped =
        is_exact && number != Register::rip && has_slot_below_sp(rule.of(number), cfa, registers);
    Recovered value = is_popped ? known(registers, number) : recover(rule, number, cfa, registers, memory);
    if (value.ok()) {
      caller.set(number, value.value());
    } else if (number == Register::rip) {
      return value.problem();
    }
  }
  return std::nullopt;
}

}  // namespace jitprof
