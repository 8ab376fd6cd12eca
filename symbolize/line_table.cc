// SPDX-License-Identifier: Apache-2.0
#include "symbolize/line_table.h"

#include <dwarf.h>

#include <algorithm>

#include "base/leb128.h"

namespace jitprof {
namespace {

constexpr size_t kMaxRows = 16u << 20;
constexpr uint64_t kLastPlaces = UINT64_MAX - 15;

bool row_starts_earlier(const LineTable::Row& a, const LineTable::Row& b) { return a.start < b.start; }

}  // namespace

// The state machine of DWARF 5 section 6.2.2, as far as a lookup needs it.
struct LineTable::State {
  Row row;
  size_t sequence_first = 0;
  void reset(size_t first) {
    row = {.start = 0, .file = 1, .line = 1, .column = 0};
    sequence_first = first;
  }
};

const LineTable::Row* LineTable::find(ElfAddr position) {
  if (!rows_read_) read_rows();
  auto after = std::upper_bound(sequences_.begin(), sequences_.end(), position.value,
                                [](uint64_t p, const Sequence& sequence) { return p < sequence.start; });
  if (after == sequences_.begin()) return nullptr;
  const Sequence& sequence = *std::prev(after);
  if (position.value >= sequence.end) return nullptr;
  auto first = rows_.begin() + sequence.first;
  auto row = std::upper_bound(first, rows_.begin() + sequence.last, Row{.start = position.value},
                              row_starts_earlier);
  return row == first ? nullptr : &*std::prev(row);
}

void LineTable::read_rows() {
  rows_read_ = true;
  if (line_range_ == 0 || opcode_base_ == 0) return;
  ByteReader program(program_);
  State state;
  state.reset(0);
  while (!program.at_end() && rows_.size() < kMaxRows) step(state, program);
  // A program that breaks off leaves a sequence without an end: how far its last row reaches is unknown.
  rows_.resize(state.sequence_first);
  std::stable_sort(sequences_.begin(), sequences_.end(),
                   [](const Sequence& a, const Sequence& b) { return a.start < b.start; });
}

void LineTable::step(State& state, ByteReader& program) {
  uint8_t opcode = program.u8();
  Row& row = state.row;
  if (opcode >= opcode_base_) {
    unsigned adjusted = opcode - opcode_base_;
    row.start += uint64_t{adjusted / line_range_} * min_instruction_;
    row.line += static_cast<uint32_t>(line_base_ + static_cast<int>(adjusted % line_range_));
    append_row(state);
    return;
  }
  switch (opcode) {
    case 0:
      step_extended(state, program);
      break;
    case DW_LNS_copy:
      append_row(state);
      break;
    case DW_LNS_advance_pc:
      row.start += read_uleb128(program) * min_instruction_;
      break;
    case DW_LNS_advance_line:
      row.line += static_cast<uint32_t>(read_sleb128(program));
      break;
    case DW_LNS_set_file:
      row.file = static_cast<uint32_t>(read_uleb128(program));
      break;
    case DW_LNS_set_column:
      row.column = static_cast<uint32_t>(read_uleb128(program));
      break;
    case DW_LNS_const_add_pc:
      row.start += uint64_t{(255u - opcode_base_) / line_range_} * min_instruction_;
      break;
    case DW_LNS_fixed_advance_pc:
      row.start += program.u16();
      break;
    case DW_LNS_negate_stmt:
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin:
      break;
    default:
      // DW_LNS_set_isa and opcodes yet to be invented: the header says how many operands they have.
      for (unsigned i = std::to_integer<unsigned>(opcode_operands_[opcode - 1]); i > 0; --i)
        read_uleb128(program);
      break;
  }
}

void LineTable::step_extended(State& state, ByteReader& program) {
  uint64_t size = read_uleb128(program);
  ByteReader operand(program.take(size));
  switch (operand.u8()) {
    case DW_LNE_end_sequence:
      end_sequence(state);
      break;
    case DW_LNE_set_address:
      if (uint64_t place = operand.u64(); operand.ok()) state.row.start = place;
      break;
    default:
      break;
  }
}

void LineTable::append_row(State& state) { rows_.push_back(state.row); }

void LineTable::end_sequence(State& state) {
  auto first = rows_.begin() + static_cast<ptrdiff_t>(state.sequence_first);
  std::stable_sort(first, rows_.end(), row_starts_earlier);
  uint64_t start = first == rows_.end() ? 0 : first->start;
  // Linkers move the sequences of discarded functions to 0 or to the very end.
  if (start == 0 || start >= kLastPlaces || state.row.start <= start) {
    rows_.erase(first, rows_.end());
  } else {
    sequences_.push_back({start, state.row.start, static_cast<uint32_t>(state.sequence_first),
                          static_cast<uint32_t>(rows_.size())});
  }
  state.reset(rows_.size());
}

}  // namespace jitprof
