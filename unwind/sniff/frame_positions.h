// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/registers.h"
#include "unwind/sniff/frame_layout.h"
#include "unwind/sniff/instruction.h"

namespace jitprof {

// What is known between two instructions of a function: which registers point into its frame and where, and
// which callee-saved registers have been put where.
class FramePositions {
 public:
  // At the function's first instruction.
  explicit FramePositions(Begins begins = Begins::kCalled);

  // One instruction on, as if it does not jump.
  void follow(const Instruction& instruction);
  // rsp has become what another register is (a loop that touches each page of a large frame ends like that).
  void set_rsp_to(Register other) { set(Register::rsp, from_cfa(other)); }

  // CFA - the register; nullopt when it does not point into the frame, or nobody knows where.
  std::optional<int32_t> from_cfa(Register number) const;
  // As at the first instruction: what is left is a jump to another function.
  bool is_empty() const { return from_cfa(Register::rsp) == 8; }
  // nullopt: what is known cannot be, or does not hold in a call.
  std::optional<FrameLayout> layout(CallState state) const;

  bool operator==(const FramePositions&) const = default;

 private:
  static constexpr int32_t kNowhere = INT32_MIN;
  static size_t index(Register number) { return static_cast<size_t>(number); }
  bool is_callers(Register number) const;
  void set(Register number, std::optional<int64_t> from_cfa);
  void push(std::optional<Register> number, int64_t size);
  void pop(std::optional<Register> number, int64_t size);
  void store(Register number, std::optional<int64_t> slot_from_cfa);
  void load(Register number, std::optional<int64_t> slot_from_cfa);
  void write(Register number);
  void forget_popped_slots();
  // Arguments that lie above the return address are put there or taken away while it is in a register (V8).
  void put_back_return_address();
  void mark_lost(FrameLayout& layout) const;

  std::array<int32_t, kRegisterCount> from_cfa_;
  std::array<int32_t, kRegisterCount> slot_{};  // CFA - where the caller's value is; 0: nowhere
  uint32_t changed_ = 0;                        // no longer what the caller had there
  std::optional<Register> return_register_;     // where the return address is while it is not on the stack
};

}  // namespace jitprof
