// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/frame_layout.h"

#include <algorithm>
#include <array>

#include "unwind/sniff/frame_positions.h"
#include "unwind/sniff/instruction.h"

namespace jitprof {
namespace {

using Kind = Instruction::Kind;

constexpr uint64_t kFarthest = 64 << 10;

// What jumps forward found, until the places are reached where they lead.
class Arrivals {
 public:
  // Whether there was room.
  bool add(uint32_t offset, const FramePositions& positions) {
    if (count_ == queue_.size()) return false;
    auto state = intern(positions);
    if (!state) return false;
    ++uses_[*state];
    queue_[count_++] = {offset, *state};
    std::push_heap(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count_), is_later);
    return true;
  }
  std::optional<uint32_t> next() const {
    return count_ == 0 ? std::nullopt : std::optional(queue_[0].offset);
  }
  // The first that was found for the next place, and forgets all of that place.
  FramePositions take() {
    uint32_t offset = queue_[0].offset;
    FramePositions first = states_[queue_[0].state];
    while (count_ > 0 && queue_[0].offset == offset) {
      std::pop_heap(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count_), is_later);
      --uses_[queue_[--count_].state];
    }
    return first;
  }

 private:
  struct Arrival {
    uint32_t offset = 0;
    uint32_t state = 0;
  };
  static bool is_later(const Arrival& left, const Arrival& right) { return left.offset > right.offset; }
  // A function has few distinct ones.
  std::optional<uint32_t> intern(const FramePositions& positions) {
    std::optional<uint32_t> free;
    for (uint32_t i = 0; i < states_.size(); ++i) {
      if (uses_[i] == 0) {
        if (!free) free = i;
      } else if (states_[i] == positions) {
        return i;
      }
    }
    if (free) states_[*free] = positions;
    return free;
  }

  std::array<Arrival, 1024> queue_;  // a heap
  size_t count_ = 0;
  std::array<FramePositions, 48> states_;
  std::array<uint32_t, 48> uses_{};
};

// Goes once through a function's code.
class Scan {
 public:
  Scan(Bytes code, Begins begins) : code_(code), positions_(begins) {}

  std::optional<FrameLayout> find(uint64_t wanted, CallState state) {
    while (at_ <= wanted) {
      arrive();
      auto instruction = decode_instruction(code_.subspan(at_));
      if (!is_reached_ && (!instruction || overlaps_arrival(*instruction))) {
        // A table of constants between code.
        auto next = arrivals_.next();
        if (!next) return std::nullopt;
        at_ = *next;
        continue;
      }
      if (!instruction) return std::nullopt;
      if (wanted < at_ + instruction->size) {
        bool is_call = instruction->kind == Kind::kCall || instruction->kind == Kind::kCallFar;
        bool is_it = state == CallState::kAtInstruction ? wanted == at_
                                                        : is_call && wanted == at_ + instruction->size - 1;
        return is_it && !is_lost_ ? positions_.layout(state) : std::nullopt;
      }
      if (!pass(*instruction)) return std::nullopt;
      at_ += instruction->size;
      if (!is_reached_ && !has_frame_ && !is_lost_) take_jump_back();
    }
    return std::nullopt;
  }

 private:
  // Code ahead of the function's start proper: V8's regular expressions jump over theirs, make the frame and
  // jump back.
  void take_jump_back() {
    auto next = arrivals_.next();
    if (!next || *next <= at_ || looks_ahead_left_ == 0) return;
    --looks_ahead_left_;
    Scan ahead = *this;
    ahead.looks_ahead_left_ = 0;
    ahead.at_ = *next;
    auto found = ahead.jump_back_into(at_, *next);
    if (!ahead.has_frame_) looks_ahead_left_ = 0;
    if (!found) return;
    positions_ = *found;
    has_frame_ |= !positions_.is_empty();
  }

  // What the first jump back to between `begin` and `end` carries there.
  std::optional<FramePositions> jump_back_into(uint64_t begin, uint64_t end) {
    while (at_ < code_.size()) {
      arrive();
      auto its = decode_instruction(code_.subspan(at_));
      if (!its) return std::nullopt;
      bool is_jump = its->kind == Kind::kJump || its->kind == Kind::kBranch;
      auto target = static_cast<int64_t>(at_) + its->value;
      if (is_jump && is_reached_ && !is_lost_ && target >= static_cast<int64_t>(begin) &&
          target < static_cast<int64_t>(end))
        return positions_;
      if (!pass(*its)) return std::nullopt;
      at_ += its->size;
    }
    return std::nullopt;
  }

  void arrive() {
    while (auto next = arrivals_.next()) {
      if (*next > at_) return;
      FramePositions found = arrivals_.take();
      if (*next < at_) continue;  // into the midst of an instruction
      // A call that never returns ends its path.
      if (!is_reached_ || is_behind_call_) positions_ = found;
      is_reached_ = true;
      is_lost_ = false;
      is_in_epilogue_ = false;
    }
  }

  bool overlaps_arrival(const Instruction& instruction) const {
    auto next = arrivals_.next();
    return next && *next < at_ + instruction.size;
  }

  // false: what follows cannot be known.
  bool pass(const Instruction& its) {
    if (its.kind == Kind::kNothing) return true;
    note_epilogue(its);
    is_behind_call_ = false;
    switch (its.kind) {
      case Kind::kBranch:
        is_in_epilogue_ = false;
        if (its.value < 0) {
          if (touched_) positions_.set_rsp_to(*touched_);
        } else {
          note_target(its);
        }
        break;
      case Kind::kJump:
        note_target(its);
        return leave();
      case Kind::kJumpFar:
        if (!positions_.is_empty() && !is_lost_) at_switch_ = positions_;
        return leave();
      case Kind::kReturn:
      case Kind::kTrap:
        return leave();
      default:
        positions_.follow(its);
        has_frame_ |= !positions_.is_empty();
        is_behind_call_ = its.kind == Kind::kCall || its.kind == Kind::kCallFar;
        if (is_behind_call_) is_in_epilogue_ = false;
    }
    note_touched(its);
    return true;
  }

  void note_target(const Instruction& its) {
    if (is_lost_) return;
    auto target = static_cast<int64_t>(at_) + its.value;
    if (target > static_cast<int64_t>(at_) && target < static_cast<int64_t>(code_.size()))
      has_all_arrivals_ &= arrivals_.add(static_cast<uint32_t>(target), positions_);
  }

  // What comes next is not reached from here.
  bool leave() {
    is_reached_ = false;
    if (positions_.is_empty()) {
      if (is_in_epilogue_)
        positions_ = before_epilogue_;
      else
        is_lost_ = has_frame_;
    }
    take_switch();
    is_in_epilogue_ = false;
    return has_all_arrivals_;
  }

  // A switch leads to code behind paths that jumped back in the midst of pushing arguments.
  void take_switch() {
    if (!at_switch_) return;
    auto depth = positions_.from_cfa(Register::rsp), at_switch = at_switch_->from_cfa(Register::rsp);
    if (depth == at_switch) return;
    is_lost_ = !depth || !at_switch || *depth < *at_switch;
    positions_ = *at_switch_;
  }

  void note_epilogue(const Instruction& its) {
    bool sets_rsp = its.target == Register::rsp;
    bool grows = its.kind == Kind::kPush || (its.kind == Kind::kAdd && sets_rsp && its.value < 0);
    bool shrinks = its.kind == Kind::kPop || its.kind == Kind::kLeave ||
                   (its.kind == Kind::kAdd && sets_rsp && its.value > 0) ||
                   ((its.kind == Kind::kLea || its.kind == Kind::kMove) && sets_rsp);
    if (grows) is_in_epilogue_ = false;
    if (!shrinks || is_in_epilogue_) return;
    before_epilogue_ = positions_;
    is_in_epilogue_ = true;
  }

  // A loop that touches each page of a large frame: sub $4096,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne back.
  void note_touched(const Instruction& its) {
    touched_.reset();
    if (its.kind != Kind::kCompare) return;
    if (its.target == Register::rsp) touched_ = its.source;
    if (its.source == Register::rsp) touched_ = its.target;
    if (touched_ && !positions_.from_cfa(*touched_)) touched_.reset();
  }

  Bytes code_;
  uint64_t at_ = 0;
  FramePositions positions_;
  bool is_reached_ = true;
  // Behind the end of a path that never made the function's frame comes code that may have it or not.
  bool is_lost_ = false;
  bool has_frame_ = false;
  // Each may cost as much as the function is long.
  int looks_ahead_left_ = 4;
  bool is_behind_call_ = false;
  bool is_in_epilogue_ = false;
  FramePositions before_epilogue_;
  std::optional<FramePositions> at_switch_;  // the last one
  std::optional<Register> touched_;
  Arrivals arrivals_;
  bool has_all_arrivals_ = true;
};

}  // namespace

std::optional<FrameLayout> decode_frame(Bytes code, uint64_t offset, CallState state, Begins begins) {
  if (offset >= code.size() || offset >= kFarthest) return std::nullopt;
  return Scan(code.first(std::min<uint64_t>(code.size(), 2 * kFarthest)), begins).find(offset, state);
}

}  // namespace jitprof
