// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/frame_layout.h"

#include <algorithm>

#include "unwind/sniff/frame_positions.h"
#include "unwind/sniff/instruction.h"

namespace jitprof {
namespace {

using Kind = Instruction::Kind;

constexpr uint64_t kFarthest = 64 << 10;

// What jumps forward found, until the places are reached where they lead.
class Arrivals {
 public:
  struct Arrival {
    FramePositions positions;
    bool is_guess = false;
  };
  // Whether there was room.
  bool add(uint32_t offset, const FramePositions& positions, bool is_guess) {
    if (count_ == queue_.size()) return false;
    auto state = intern(positions);
    if (!state) return false;
    ++uses_[*state];
    queue_[count_++] = {offset, *state, is_guess};
    std::push_heap(queue_.begin(), end(), is_later);
    return true;
  }
  std::optional<uint32_t> next() const {
    return count_ == 0 ? std::nullopt : std::optional(queue_[0].offset);
  }
  // One that was found for the next place, a guess only if all are; forgets all of that place.
  Arrival take() {
    uint32_t offset = queue_[0].offset;
    Arrival taken{states_[queue_[0].state], queue_[0].is_guess};
    while (count_ > 0 && queue_[0].offset == offset) {
      std::pop_heap(queue_.begin(), end(), is_later);
      const Queued& other = queue_[static_cast<size_t>(--count_)];
      if (taken.is_guess && !other.is_guess) taken = {states_[other.state], false};
      --uses_[other.state];
    }
    return taken;
  }

 private:
  struct Queued {
    uint32_t offset = 0;
    uint8_t state = 0;
    bool is_guess = false;
  };
  static constexpr size_t kStates = 48;  // a function has few distinct ones
  static bool is_later(const Queued& left, const Queued& right) { return left.offset > right.offset; }
  Queued* end() { return queue_.begin() + count_; }
  std::optional<uint8_t> intern(const FramePositions& positions) {
    std::optional<uint8_t> free;
    for (uint8_t i = 0; i < kStates; ++i) {
      if (uses_[i] == 0) {
        if (!free) free = i;
      } else if (states_[i] == positions) {
        return i;
      }
    }
    if (free) states_[*free] = positions;
    return free;
  }

  std::array<Queued, 1024> queue_;  // a heap
  size_t count_ = 0;
  std::array<FramePositions, kStates> states_;
  std::array<uint32_t, kStates> uses_{};
};

// Goes once through a function's code.
class Scan {
 public:
  struct Found {
    FramePositions positions;
    // Where the code begins that only a guess says the state of; behind it lies what was looked for.
    std::optional<uint64_t> guessed_from;
  };

  Scan(Bytes code, Begins begins) : code_(code), positions_(begins) {}

  // A jump from farther on leads there.
  void expect(uint64_t offset, const FramePositions& positions) {
    has_all_arrivals_ &= arrivals_.add(static_cast<uint32_t>(offset), positions, false);
  }

  std::optional<Found> find(uint64_t wanted, CallState state) {
    while (at_ <= wanted) {
      auto its = next_instruction();
      if (!its || at_ > wanted) return std::nullopt;
      if (wanted < at_ + its->size) {
        bool is_it = state == CallState::kAtInstruction ? wanted == at_
                                                        : is_call(*its) && wanted == at_ + its->size - 1;
        return is_it ? std::optional(Found{positions_, guessed_from_}) : std::nullopt;
      }
      if (!pass(*its)) return std::nullopt;
    }
    return std::nullopt;
  }

  // Goes on to the code's end for a jump back to [from, to] that is no guess itself: where it leads, and with
  // what.
  struct Backward {
    uint64_t to;
    FramePositions positions;
  };
  std::optional<Backward> find_jump_back(uint64_t from, uint64_t to) {
    while (auto its = next_instruction()) {
      bool jumps = its->kind == Kind::kJump || its->kind == Kind::kBranch;
      uint64_t target = at_ + static_cast<uint64_t>(its->value);
      if (jumps && !guessed_from_ && target >= from && target <= to) return Backward{target, positions_};
      if (!pass(*its)) break;
    }
    return std::nullopt;
  }

 private:
  static bool is_call(const Instruction& its) {
    return its.kind == Kind::kCall || its.kind == Kind::kIndirectCall;
  }

  std::optional<Instruction> next_instruction() {
    while (at_ < code_.size()) {
      arrive();
      auto its = decode_instruction(code_.subspan(at_));
      auto next = arrivals_.next();
      bool is_no_code = !is_reached_ && (!its || (next && *next < at_ + its->size));
      if (!is_no_code) return its;
      // A table of constants between code.
      if (!next) return std::nullopt;
      at_ = *next;
    }
    return std::nullopt;
  }

  void arrive() {
    while (auto next = arrivals_.next()) {
      if (*next > at_) return;
      Arrivals::Arrival found = arrivals_.take();
      if (*next < at_) continue;  // into the midst of an instruction
      // A call that never returns ends its path.
      bool is_better = guessed_from_ && !found.is_guess;
      if (!is_reached_ || is_behind_call_ || is_better) {
        positions_ = found.positions;
        if (!found.is_guess) {
          guessed_from_.reset();
        } else if (!guessed_from_) {
          guessed_from_ = at_;
        }
      }
      is_reached_ = true;
      is_in_epilogue_ = false;
    }
  }

  // false: what follows cannot be known.
  bool pass(const Instruction& its) {
    note_epilogue(its);
    is_behind_call_ = is_call(its) || (is_behind_call_ && its.kind == Kind::kNop);
    if (is_call(its)) is_in_epilogue_ = false;
    bool goes_on = true;
    switch (its.kind) {
      case Kind::kBranch:
        is_in_epilogue_ = false;
        if (its.value < 0 && touched_) positions_.set_rsp_to(*touched_);
        note_target(its);
        break;
      case Kind::kJump:
        note_target(its);
        goes_on = false;
        break;
      case Kind::kIndirectJump:
      case Kind::kReturn:
      case Kind::kTrap:
        goes_on = false;
        break;
      default:
        positions_.follow(its);
    }
    note_touched(its);
    at_ += its.size;
    return goes_on || leave();
  }

  void note_target(const Instruction& its) {
    if (its.value <= 0 || at_ + static_cast<uint64_t>(its.value) >= code_.size()) return;
    uint64_t target = at_ + static_cast<uint64_t>(its.value);
    has_all_arrivals_ &= arrivals_.add(static_cast<uint32_t>(target), positions_, guessed_from_.has_value());
  }

  // What comes next is not reached from here.
  bool leave() {
    is_reached_ = false;
    if (positions_.is_empty() && before_epilogue_) positions_ = *before_epilogue_;
    is_in_epilogue_ = false;
    if (!guessed_from_) guessed_from_ = at_;
    return has_all_arrivals_;
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
  std::optional<uint64_t> guessed_from_;
  bool is_behind_call_ = false;
  bool is_in_epilogue_ = false;
  std::optional<FramePositions> before_epilogue_;
  std::optional<Register> touched_;
  Arrivals arrivals_;
  bool has_all_arrivals_ = true;
};

}  // namespace

std::optional<FrameLayout> decode_frame(Bytes code, uint64_t offset, CallState state, Begins begins) {
  if (offset >= code.size() || offset >= kFarthest) return std::nullopt;
  code = code.first(std::min(code.size(), kFarthest));
  Scan scan(code, begins);
  auto found = scan.find(offset, state);
  if (found && found->guessed_from) {
    if (auto jump = scan.find_jump_back(*found->guessed_from, offset)) {
      Scan again(code, begins);
      again.expect(jump->to, jump->positions);
      found = again.find(offset, state);
    }
  }
  auto layout = found ? found->positions.layout(state) : std::nullopt;
  if (layout) layout->is_guess = found->guessed_from.has_value();
  return layout;
}

}  // namespace jitprof
