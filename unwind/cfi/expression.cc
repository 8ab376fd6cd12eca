// SPDX-License-Identifier: Apache-2.0
// DWARF 5, 2.5: operations; 6.4.2: those that CFI may not use.
#include "unwind/cfi/expression.h"

#include <dwarf.h>

#include <array>

namespace jitprof {
namespace {

// The longest expression seen in Debian 12's libraries has 11 steps and needs 4 values (a PLT entry's).
constexpr unsigned kMaxSteps = 1000;
constexpr unsigned kMaxDepth = 64;

// The values of one evaluation. A push beyond the limit or a pop from nothing is remembered as failure.
class ValueStack {
 public:
  void push(uint64_t value) {
    if (depth_ == values_.size()) {
      ok_ = false;
    } else {
      values_[depth_++] = value;
    }
  }
  uint64_t pop() {
    if (depth_ != 0) return values_[--depth_];
    ok_ = false;
    return 0;
  }
  // The value `down` places below the top.
  uint64_t peek(uint64_t down) {
    if (down < depth_) return values_[depth_ - 1 - down];
    ok_ = false;
    return 0;
  }
  bool ok() const { return ok_; }

 private:
  std::array<uint64_t, kMaxDepth> values_;
  unsigned depth_ = 0;
  bool ok_ = true;
};

std::optional<uint64_t> combine(uint8_t op, ValueStack& stack) {
  uint64_t right = stack.pop(), left = stack.pop();
  auto signed_left = static_cast<int64_t>(left);
  auto signed_right = static_cast<int64_t>(right);
  switch (op) {
    case DW_OP_and:
      return left & right;
    case DW_OP_or:
      return left | right;
    case DW_OP_xor:
      return left ^ right;
    case DW_OP_plus:
      return left + right;
    case DW_OP_minus:
      return left - right;
    case DW_OP_mul:
      return left * right;
    case DW_OP_div:
      if (right == 0 || (signed_right == -1 && signed_left == INT64_MIN)) return std::nullopt;
      return static_cast<uint64_t>(signed_left / signed_right);
    case DW_OP_mod:
      return right == 0 ? std::nullopt : std::optional(left % right);
    case DW_OP_shl:
      return right < 64 ? left << right : 0;
    case DW_OP_shr:
      return right < 64 ? left >> right : 0;
    case DW_OP_shra:
      return static_cast<uint64_t>(signed_left >> (right < 64 ? right : 63));
    case DW_OP_eq:
      return left == right;
    case DW_OP_ne:
      return left != right;
    case DW_OP_lt:
      return signed_left < signed_right;
    case DW_OP_le:
      return signed_left <= signed_right;
    case DW_OP_gt:
      return signed_left > signed_right;
    case DW_OP_ge:
      return signed_left >= signed_right;
    default:
      return std::nullopt;
  }
}

// Operations that only move or change what is on the stack; false when `op` is none of them.
bool apply_to_stack(const ExpressionOp& op, ValueStack& stack) {
  switch (op.op) {
    case DW_OP_dup:
      stack.push(stack.peek(0));
      return true;
    case DW_OP_drop:
      (void)stack.pop();
      return true;
    case DW_OP_over:
      stack.push(stack.peek(1));
      return true;
    case DW_OP_pick:
      stack.push(stack.peek(op.operand));
      return true;
    case DW_OP_swap: {
      uint64_t top = stack.pop(), second = stack.pop();
      stack.push(top);
      stack.push(second);
      return true;
    }
    case DW_OP_rot: {
      uint64_t top = stack.pop(), second = stack.pop(), third = stack.pop();
      stack.push(top);
      stack.push(third);
      stack.push(second);
      return true;
    }
    case DW_OP_neg:
      stack.push(-stack.pop());
      return true;
    case DW_OP_not:
      stack.push(~stack.pop());
      return true;
    case DW_OP_abs: {
      uint64_t value = stack.pop();
      stack.push(static_cast<int64_t>(value) < 0 ? -value : value);
      return true;
    }
    case DW_OP_plus_uconst:
      stack.push(stack.pop() + op.operand);
      return true;
    case DW_OP_nop:
      return true;
    default:
      return false;
  }
}

// The value that an operation without operands on the stack pushes; nullopt when it is none of those or the
// value is unavailable. DW_OP_addr is left out: CFI that names a place in the file would need the bias, and
// none does.
std::optional<uint64_t> pushed_value(const ExpressionOp& op, const Registers& registers,
                                     std::optional<uint64_t> cfa) {
  auto register_plus = [&](uint64_t number, uint64_t offset) -> std::optional<uint64_t> {
    if (number >= kRegisterCount) return std::nullopt;
    auto value = registers.find(static_cast<Register>(number));
    return value ? std::optional(*value + offset) : std::nullopt;
  };
  if (op.op >= DW_OP_lit0 && op.op <= DW_OP_lit31) return op.op - DW_OP_lit0;
  if (op.op >= DW_OP_breg0 && op.op <= DW_OP_breg31) return register_plus(op.op - DW_OP_breg0, op.operand);
  switch (op.op) {
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
      return op.operand;
    case DW_OP_call_frame_cfa:
      return cfa;
    default:
      return std::nullopt;
  }
}

// Once neg, not, plus_uconst and bra, which lie between, are dealt with.
bool is_binary(uint8_t op) { return op >= DW_OP_and && op <= DW_OP_ne; }

Recovered dereference(const ExpressionOp& op, uint64_t place, const StackMemory& memory) {
  uint64_t size = op.op == DW_OP_deref ? 8 : op.operand;
  if (size != 1 && size != 2 && size != 4 && size != 8) return StopReason::kUnreadable;
  return memory.read({place}, static_cast<unsigned>(size));
}

}  // namespace

Recovered evaluate(Expression expression, const Registers& registers, const StackMemory& memory,
                   std::optional<uint64_t> cfa) {
  ValueStack stack;
  size_t next = 0;
  for (unsigned steps = 0; next < expression.size(); ++steps) {
    if (steps == kMaxSteps) return StopReason::kUnreadable;
    const ExpressionOp& op = expression[next++];
    if (op.op == DW_OP_skip || op.op == DW_OP_bra) {
      if (op.op == DW_OP_skip || stack.pop() != 0) next = op.operand;
    } else if (op.op == DW_OP_deref || op.op == DW_OP_deref_size) {
      Recovered word = dereference(op, stack.pop(), memory);
      if (!word.ok()) return stack.ok() ? word.problem() : StopReason::kUnreadable;
      stack.push(word.value());
    } else if (!apply_to_stack(op, stack)) {
      auto value = is_binary(op.op) ? combine(op.op, stack) : pushed_value(op, registers, cfa);
      if (!value) return StopReason::kUnreadable;
      stack.push(*value);
    }
    if (!stack.ok()) return StopReason::kUnreadable;
  }
  uint64_t result = stack.pop();
  if (!stack.ok()) return StopReason::kUnreadable;
  return result;
}

}  // namespace jitprof
