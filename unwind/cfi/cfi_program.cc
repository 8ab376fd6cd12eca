// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/cfi_program.h"

#include <dwarf.h>

#include <limits>

#include "base/leb128.h"
#include "unwind/cfi/encoded_pointer.h"
#include "unwind/cfi/expression_decoder.h"

namespace jitprof {
namespace {

using Kind = RegisterRule::Kind;

// Compilers nest DW_CFA_remember_state once or twice.
constexpr size_t kMaxRemembered = 256;
constexpr uint8_t kPrimaryOpcode = 0xc0;

std::optional<int32_t> narrow(int64_t offset) {
  if (offset < std::numeric_limits<int32_t>::min() || offset > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int32_t>(offset);
}

// The offset that a register's expression adds to the CFA, if it does only that.
std::optional<int32_t> cfa_offset_of(const std::vector<ExpressionOp>& ops) {
  if (ops.size() == 1) return 0;
  if (ops.size() != 2 || ops[1].op != DW_OP_plus_uconst) return std::nullopt;
  return narrow(static_cast<int64_t>(ops[1].operand));
}

}  // namespace

std::optional<FrameState> CfiProgram::initial_state(const Cie& cie) {
  FrameState by_abi;
  by_abi.is_signal_frame = cie.is_signal_frame;
  // Rows are the FDEs' alone: moves of the location mean nothing here.
  Fde everywhere{.start = {0}, .size = ~uint64_t{0}, .program = cie.program};
  begin(everywhere, cie, by_abi);
  while (next_row()) continue;
  if (is_damaged_) return std::nullopt;
  return state_;
}

void CfiProgram::begin(const Fde& fde, const Cie& cie, const FrameState& initial) {
  reader_ = ByteReader(section_.bytes.first(fde.program.end));
  reader_.seek(fde.program.begin);
  cie_ = &cie;
  initial_ = &initial;
  state_ = initial;
  remembered_.clear();
  location_ = fde.start.value;
  end_ = fde.start.value + fde.size;
  is_damaged_ = false;
}

bool CfiProgram::next_row() {
  row_start_ = location_;
  while (row_start_ < end_ && !is_damaged_) {
    if (reader_.at_end()) {
      location_ = end_;
      return true;
    }
    is_damaged_ = !step();
    if (!is_damaged_ && location_ != row_start_) return true;
  }
  return false;
}

bool CfiProgram::step() {
  uint8_t opcode = reader_.u8();
  uint8_t low = opcode & ~kPrimaryOpcode;
  switch (opcode & kPrimaryOpcode) {
    case DW_CFA_advance_loc:
      return advance(low);
    case DW_CFA_offset:
      set_offset(low, Kind::kAtCfaOffset, factored(read_uleb128(reader_)));
      return reader_.ok();
    case DW_CFA_restore:
      restore(low);
      return true;
    default:
      break;
  }
  bool is_done = opcode == DW_CFA_nop || step_location(opcode) || step_cfa(opcode) || step_register(opcode) ||
                 step_state(opcode);
  return is_done && reader_.ok();
}

bool CfiProgram::step_location(uint8_t opcode) {
  switch (opcode) {
    case DW_CFA_set_loc:
      return set_location();
    case DW_CFA_advance_loc1:
      return advance(reader_.u8());
    case DW_CFA_advance_loc2:
      return advance(reader_.u16());
    case DW_CFA_advance_loc4:
      return advance(reader_.u32());
    case DW_CFA_MIPS_advance_loc8:
      return advance(reader_.u64());
    default:
      return false;
  }
}

bool CfiProgram::step_cfa(uint8_t opcode) {
  switch (opcode) {
    case DW_CFA_def_cfa: {
      uint64_t number = read_uleb128(reader_);
      define_cfa(number, static_cast<int64_t>(read_uleb128(reader_)));
      return true;
    }
    case DW_CFA_def_cfa_sf: {
      uint64_t number = read_uleb128(reader_);
      define_cfa(number, factored(static_cast<uint64_t>(read_sleb128(reader_))));
      return true;
    }
    case DW_CFA_def_cfa_register:
      return set_cfa_register(read_uleb128(reader_));
    case DW_CFA_def_cfa_offset:
      return set_cfa_offset(static_cast<int64_t>(read_uleb128(reader_)));
    case DW_CFA_def_cfa_offset_sf:
      return set_cfa_offset(factored(static_cast<uint64_t>(read_sleb128(reader_))));
    case DW_CFA_def_cfa_expression:
      set_cfa_expression();
      return true;
    default:
      return false;
  }
}

bool CfiProgram::step_register(uint8_t opcode) {
  if (opcode == DW_CFA_expression || opcode == DW_CFA_val_expression) {
    set_expression(opcode == DW_CFA_expression ? Kind::kAtExpression : Kind::kExpression);
    return true;
  }
  bool is_signed = opcode == DW_CFA_offset_extended_sf || opcode == DW_CFA_val_offset_sf;
  auto read_offset = [&] {
    return factored(is_signed ? static_cast<uint64_t>(read_sleb128(reader_)) : read_uleb128(reader_));
  };
  uint64_t number = 0;
  switch (opcode) {
    case DW_CFA_offset_extended:
    case DW_CFA_offset_extended_sf:
      number = read_uleb128(reader_);
      set_offset(number, Kind::kAtCfaOffset, read_offset());
      return true;
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
      number = read_uleb128(reader_);
      set_offset(number, Kind::kCfaOffset, read_offset());
      return true;
    case DW_CFA_GNU_negative_offset_extended:
      number = read_uleb128(reader_);
      set_offset(number, Kind::kAtCfaOffset, factored(-read_uleb128(reader_)));
      return true;
    case DW_CFA_restore_extended:
      restore(read_uleb128(reader_));
      return true;
    case DW_CFA_undefined:
      set(read_uleb128(reader_), {.kind = Kind::kUndefined});
      return true;
    case DW_CFA_same_value:
      set(read_uleb128(reader_), {.kind = Kind::kSameValue});
      return true;
    case DW_CFA_register: {
      number = read_uleb128(reader_);
      uint64_t other = read_uleb128(reader_);
      ColumnRule rule{.kind = Kind::kInRegister, .other = static_cast<Register>(other)};
      set(number, other < kRegisterCount ? rule : ColumnRule::lost());
      return true;
    }
    default:
      return false;
  }
}

bool CfiProgram::step_state(uint8_t opcode) {
  switch (opcode) {
    case DW_CFA_remember_state:
      if (remembered_.size() == kMaxRemembered) return false;
      remembered_.push_back(state_);
      return true;
    case DW_CFA_restore_state:
      if (remembered_.empty()) return false;
      state_ = remembered_.back();
      remembered_.pop_back();
      return true;
    case DW_CFA_GNU_args_size:
      // Concerns only who throws through a call.
      (void)read_uleb128(reader_);
      return true;
    default:
      return false;
  }
}

bool CfiProgram::advance(uint64_t delta) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(delta, cie_->code_alignment, &bytes)) return false;
  // A program may go on behind the end of its code, where it no longer matters.
  location_ = bytes < end_ - location_ ? location_ + bytes : end_;
  return reader_.ok();
}

bool CfiProgram::set_location() {
  auto place = read_encoded_pointer(reader_, cie_->pointer_encoding, section_);
  if (!place || *place < location_) return false;
  location_ = *place < end_ ? *place : end_;
  return true;
}

void CfiProgram::define_cfa(uint64_t number, int64_t offset) {
  auto narrowed = narrow(offset);
  state_.cfa = CfaRule();
  if (number >= kRegisterCount || !narrowed) return;
  state_.cfa = {.kind = UnwindRule::Cfa::kRegisterOffset,
                .base = static_cast<Register>(number),
                .expression = 0,
                .offset = *narrowed};
}

bool CfiProgram::set_cfa_register(uint64_t number) {
  if (state_.cfa.kind != UnwindRule::Cfa::kRegisterOffset) return false;
  define_cfa(number, state_.cfa.offset);
  return true;
}

bool CfiProgram::set_cfa_offset(int64_t offset) {
  if (state_.cfa.kind != UnwindRule::Cfa::kRegisterOffset) return false;
  define_cfa(static_cast<uint64_t>(state_.cfa.base), offset);
  return true;
}

void CfiProgram::set_cfa_expression() {
  auto ops = decode_expression(reader_.take(read_uleb128(reader_)), false);
  state_.cfa = CfaRule();
  if (!ops) return;
  const ExpressionOp& first = ops->front();
  if (ops->size() == 1 && first.op >= DW_OP_breg0 && first.op <= DW_OP_breg31) {
    define_cfa(first.op - DW_OP_breg0, static_cast<int64_t>(first.operand));
  } else {
    state_.cfa.expression = expressions_.number_of(std::move(*ops));
  }
}

void CfiProgram::set(uint64_t number, const ColumnRule& rule) {
  // Vector registers and the like are not followed.
  if (number < kRegisterCount) state_.columns[number] = rule;
}

void CfiProgram::set_offset(uint64_t number, Kind kind, int64_t offset) {
  auto narrowed = narrow(offset);
  set(number, narrowed ? ColumnRule{.kind = kind, .offset = *narrowed} : ColumnRule::lost());
}

void CfiProgram::set_expression(Kind kind) {
  uint64_t number = read_uleb128(reader_);
  auto ops = decode_expression(reader_.take(read_uleb128(reader_)), true);
  if (!ops) return set(number, ColumnRule::lost());
  if (auto offset = cfa_offset_of(*ops)) {
    bool is_value = kind == Kind::kExpression;
    return set_offset(number, is_value ? Kind::kCfaOffset : Kind::kAtCfaOffset, *offset);
  }
  ExpressionNumber expression = expressions_.number_of(std::move(*ops));
  set(number,
      expression == kInexpressible ? ColumnRule::lost() : ColumnRule{.kind = kind, .expression = expression});
}

void CfiProgram::restore(uint64_t number) {
  if (number < kRegisterCount) state_.columns[number] = initial_->columns[number];
}

}  // namespace jitprof
