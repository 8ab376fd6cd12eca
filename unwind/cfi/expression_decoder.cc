// SPDX-License-Identifier: Apache-2.0
// DWARF 5, 2.5 and 7.7.1: operations and their operands.
#include "unwind/cfi/expression_decoder.h"

#include <dwarf.h>

#include <algorithm>

#include "base/leb128.h"

namespace jitprof {
namespace {

// The longest expression in Debian 12's libraries has 11 steps.
constexpr size_t kMaxOps = 256;

uint64_t sign_extended(int64_t value) { return static_cast<uint64_t>(value); }

std::optional<ExpressionOp> register_plus(uint64_t number, ByteReader& reader) {
  uint64_t offset = sign_extended(read_sleb128(reader));
  if (number >= kRegisterCount) return std::nullopt;
  return ExpressionOp{static_cast<uint8_t>(DW_OP_breg0 + number), offset};
}

bool has_no_operand(uint8_t op) {
  bool is_arithmetic = op >= DW_OP_abs && op <= DW_OP_ne && op != DW_OP_plus_uconst && op != DW_OP_bra;
  bool is_of_the_stack =
      op == DW_OP_dup || op == DW_OP_drop || op == DW_OP_over || op == DW_OP_swap || op == DW_OP_rot;
  return is_arithmetic || is_of_the_stack || (op >= DW_OP_lit0 && op <= DW_OP_lit31) || op == DW_OP_deref ||
         op == DW_OP_nop || op == DW_OP_call_frame_cfa;
}

// One step; of a branch the operand is still the distance.
std::optional<ExpressionOp> read_op(ByteReader& reader) {
  uint8_t op = reader.u8();
  if (has_no_operand(op)) return ExpressionOp{op};
  if (op >= DW_OP_breg0 && op <= DW_OP_breg31) return register_plus(op - DW_OP_breg0, reader);
  switch (op) {
    case DW_OP_bregx: {
      uint64_t number = read_uleb128(reader);
      return register_plus(number, reader);
    }
    case DW_OP_const1u:
    case DW_OP_pick:
    case DW_OP_deref_size:
      return ExpressionOp{op, reader.u8()};
    case DW_OP_const1s:
      return ExpressionOp{op, sign_extended(reader.read<int8_t>())};
    case DW_OP_const2u:
      return ExpressionOp{op, reader.u16()};
    case DW_OP_const2s:
    case DW_OP_skip:
    case DW_OP_bra:
      return ExpressionOp{op, sign_extended(reader.read<int16_t>())};
    case DW_OP_const4u:
      return ExpressionOp{op, reader.u32()};
    case DW_OP_const4s:
      return ExpressionOp{op, sign_extended(reader.read<int32_t>())};
    case DW_OP_const8u:
    case DW_OP_const8s:
      return ExpressionOp{op, reader.u64()};
    case DW_OP_constu:
    case DW_OP_plus_uconst:
      return ExpressionOp{op, read_uleb128(reader)};
    case DW_OP_consts:
      return ExpressionOp{op, sign_extended(read_sleb128(reader))};
    default:
      return std::nullopt;
  }
}

// Turns distances into indices; ends[i] is where the bytes of ops[first + i] end, and that is what they count
// from. One past the last step is a legal target.
bool resolve_branches(std::vector<ExpressionOp>& ops, size_t first, const std::vector<uint64_t>& ends) {
  for (size_t i = 0; i < ends.size(); ++i) {
    ExpressionOp& op = ops[first + i];
    if (op.op != DW_OP_skip && op.op != DW_OP_bra) continue;
    uint64_t wanted = ends[i] + op.operand;
    auto before = std::ranges::lower_bound(ends, wanted);
    bool is_start = wanted == 0 || (before != ends.end() && *before == wanted);
    if (!is_start) return false;
    op.operand = wanted == 0 ? first : first + 1 + (before - ends.begin());
  }
  return true;
}

}  // namespace

std::optional<std::vector<ExpressionOp>> decode_expression(Bytes bytes, bool starts_with_cfa) {
  std::vector<ExpressionOp> ops;
  std::vector<uint64_t> ends;
  if (starts_with_cfa) ops.push_back({DW_OP_call_frame_cfa});
  size_t first = ops.size();
  ByteReader reader(bytes);
  while (!reader.at_end()) {
    auto op = read_op(reader);
    if (!op || ends.size() == kMaxOps) return std::nullopt;
    ops.push_back(*op);
    ends.push_back(reader.offset());
  }
  if (!reader.ok() || ops.empty() || !resolve_branches(ops, first, ends)) return std::nullopt;
  return ops;
}

}  // namespace jitprof
