// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "unwind/cfi/cfi_entries.h"
#include "unwind/cfi/expression_pool.h"
#include "unwind/cfi/frame_state.h"

namespace jitprof {

// Runs call frame instructions (DWARF 5, 6.4.2) and stops at each row they make. For the entries of one
// section, one after the other.
class CfiProgram {
 public:
  CfiProgram(const FrameSection& section, ExpressionPool& expressions)
      : section_(section), expressions_(expressions), reader_(Bytes()) {}

  // The state after a CIE's own instructions, in which its FDEs begin. nullopt when they cannot be read.
  std::optional<FrameState> initial_state(const Cie& cie);

  // Stands before the first row of the FDE. `cie` and `initial`, its initial state, must outlive the rows.
  void begin(const Fde& fde, const Cie& cie, const FrameState& initial);
  // Moves to the next row that covers code; false behind the last one, and at an instruction that cannot be
  // read: what it would have changed is unknown, so the row it belongs to and all behind it are none.
  bool next_row();
  bool is_damaged() const { return is_damaged_; }

  // The row: the state holds in [row_start, row_end).
  uint64_t row_start() const { return row_start_; }
  uint64_t row_end() const { return location_; }
  const FrameState& state() const { return state_; }

 private:
  // Each executes one instruction; false when it is damaged or not theirs.
  bool step();
  bool step_location(uint8_t opcode);
  bool step_cfa(uint8_t opcode);
  bool step_register(uint8_t opcode);
  bool step_state(uint8_t opcode);

  bool advance(uint64_t delta);
  bool set_location();
  void define_cfa(uint64_t number, int64_t offset);
  bool set_cfa_register(uint64_t number);
  bool set_cfa_offset(int64_t offset);
  void set_cfa_expression();
  void set(uint64_t number, const ColumnRule& rule);
  void set_offset(uint64_t number, RegisterRule::Kind kind, int64_t offset);
  void set_expression(RegisterRule::Kind kind);
  void restore(uint64_t number);

  int64_t factored(uint64_t offset) const {
    return static_cast<int64_t>(offset * static_cast<uint64_t>(cie_->data_alignment));
  }

  const FrameSection& section_;
  ExpressionPool& expressions_;
  ByteReader reader_;
  const Cie* cie_ = nullptr;
  const FrameState* initial_ = nullptr;
  FrameState state_;
  std::vector<FrameState> remembered_;
  uint64_t row_start_ = 0, location_ = 0, end_ = 0;
  bool is_damaged_ = false;
};

}  // namespace jitprof
