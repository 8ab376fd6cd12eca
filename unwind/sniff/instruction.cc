// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/instruction.h"

#include <Zydis/Zydis.h>

#include <array>
#include <span>

namespace jitprof {
namespace {

using Kind = Instruction::Kind;
using Operands = std::span<const ZydisDecodedOperand>;

// The integer register that `number` is, or is a part of. Zydis counts them as instructions encode them.
std::optional<Register> enclosing(ZydisRegister number) {
  static constexpr std::array<Register, 16> kByCode = {
      Register::rax, Register::rcx, Register::rdx, Register::rbx, Register::rsp, Register::rbp,
      Register::rsi, Register::rdi, Register::r8,  Register::r9,  Register::r10, Register::r11,
      Register::r12, Register::r13, Register::r14, Register::r15};
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, number);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return std::nullopt;
  return kByCode[static_cast<size_t>(whole - ZYDIS_REGISTER_RAX)];
}

std::optional<Register> whole_register(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || operand.size != 64) return std::nullopt;
  return enclosing(operand.reg.value);
}

// Memory at one register and a constant, in the ordinary address space.
bool is_at_register(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.index == ZYDIS_REGISTER_NONE &&
         operand.mem.segment != ZYDIS_REGISTER_FS && operand.mem.segment != ZYDIS_REGISTER_GS &&
         enclosing(operand.mem.base).has_value() &&
         ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand.mem.base) == 64;
}

uint32_t written_registers(Operands operands) {
  uint32_t written = 0;
  for (const ZydisDecodedOperand& operand : operands) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
        (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
      continue;
    if (auto number = enclosing(operand.reg.value)) written |= 1u << static_cast<unsigned>(*number);
  }
  return written;
}

void describe_transfer(const ZydisDecodedOperand& to, Kind direct, Kind elsewhere, Instruction& made) {
  bool is_direct = to.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && to.imm.is_relative;
  made.kind = is_direct ? direct : elsewhere;
  if (is_direct) made.value = made.size + to.imm.value.s;
}

void describe_move(const ZydisDecodedOperand& to, const ZydisDecodedOperand& from, Instruction& made) {
  auto into = whole_register(to), out_of = whole_register(from);
  if (into && out_of) {
    made.kind = Kind::kMove;
    made.target = into;
    made.source = out_of;
  } else if (into && is_at_register(from)) {
    made.kind = Kind::kLoad;
    made.target = into;
    made.source = enclosing(from.mem.base);
    made.value = from.mem.disp.value;
  } else if (out_of && is_at_register(to)) {
    made.kind = Kind::kStore;
    made.target = out_of;
    made.source = enclosing(to.mem.base);
    made.value = to.mem.disp.value;
  }
}

void describe_sum(const ZydisDecodedOperand& to, const ZydisDecodedOperand& by, int sign, Instruction& made) {
  auto into = whole_register(to);
  if (!into || by.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return;
  made.kind = Kind::kAdd;
  made.target = into;
  made.value = sign * by.imm.value.s;
}

void describe_flow(const ZydisDecodedInstruction& decoded, Operands operands, Instruction& made) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
      describe_transfer(operands[0], Kind::kCall, Kind::kCallFar, made);
      break;
    case ZYDIS_MNEMONIC_JMP:
      describe_transfer(operands[0], Kind::kJump, Kind::kJumpFar, made);
      break;
    case ZYDIS_MNEMONIC_RET:
      made.kind = Kind::kReturn;
      if (decoded.operand_count_visible > 0) made.value = static_cast<int64_t>(operands[0].imm.value.u);
      break;
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      made.kind = Kind::kTrap;
      break;
    default:
      if (decoded.meta.category == ZYDIS_CATEGORY_COND_BR)
        describe_transfer(operands[0], Kind::kBranch, Kind::kBranch, made);
  }
}

void describe(const ZydisDecodedInstruction& decoded, Operands operands, Instruction& made) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_INT3:
      made.kind = Kind::kNothing;
      break;
    case ZYDIS_MNEMONIC_PUSH:
      made.kind = Kind::kPush;
      made.source = whole_register(operands[0]);
      made.value = decoded.operand_width == 16 ? 2 : 8;
      break;
    case ZYDIS_MNEMONIC_PUSHFQ:
      made.kind = Kind::kPush;
      made.value = 8;
      break;
    case ZYDIS_MNEMONIC_POP:
      made.kind = Kind::kPop;
      made.target = whole_register(operands[0]);
      made.value = decoded.operand_width == 16 ? 2 : 8;
      break;
    case ZYDIS_MNEMONIC_POPFQ:
      made.kind = Kind::kPop;
      made.value = 8;
      break;
    case ZYDIS_MNEMONIC_MOV:
      describe_move(operands[0], operands[1], made);
      break;
    case ZYDIS_MNEMONIC_ADD:
      describe_sum(operands[0], operands[1], 1, made);
      break;
    case ZYDIS_MNEMONIC_SUB:
      describe_sum(operands[0], operands[1], -1, made);
      break;
    case ZYDIS_MNEMONIC_LEA:
      made.target = whole_register(operands[0]);
      if (!made.target) break;
      if (operands[1].mem.index != ZYDIS_REGISTER_NONE) break;
      made.source = enclosing(operands[1].mem.base);
      if (!made.source || decoded.address_width != 64) break;
      made.kind = Kind::kLea;
      made.value = operands[1].mem.disp.value;
      break;
    case ZYDIS_MNEMONIC_CMP:
      made.target = whole_register(operands[0]);
      made.source = whole_register(operands[1]);
      if (made.target && made.source) made.kind = Kind::kCompare;
      break;
    case ZYDIS_MNEMONIC_LEAVE:
      made.kind = Kind::kLeave;
      break;
    default:
      describe_flow(decoded, operands, made);
  }
}

}  // namespace

std::optional<Instruction> decode_instruction(Bytes code) {
  ZydisDecoder decoder;
  ZydisDecodedInstruction decoded;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &decoded, operands.data())))
    return std::nullopt;
  Operands known = Operands(operands).first(decoded.operand_count);
  Instruction made;
  made.size = decoded.length;
  made.writes = written_registers(known);
  describe(decoded, known, made);
  return made;
}

}  // namespace jitprof
