// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/frame_positions.h"

namespace jitprof {
namespace {

using Kind = Instruction::Kind;
using Saved = FrameLayout::Saved;

// Larger frames than any stack has.
constexpr int64_t kMaxFromCfa = 1 << 30;
// The return address takes the first slot.
constexpr int64_t kFirstSlot = 16;

std::optional<int64_t> minus(std::optional<int32_t> from_cfa, int64_t bytes) {
  if (!from_cfa) return std::nullopt;
  return *from_cfa - bytes;
}

}  // namespace

FramePositions::FramePositions(Begins begins) {
  from_cfa_.fill(kNowhere);
  if (begins == Begins::kCalled) {
    from_cfa_[index(Register::rsp)] = 8;
  } else {
    from_cfa_[index(Register::rbp)] = kFirstSlot;
    slot_[index(Register::rbp)] = kFirstSlot;
    changed_ |= 1u << index(Register::rbp);
  }
}

std::optional<int32_t> FramePositions::from_cfa(Register number) const {
  int32_t known = from_cfa_[index(number)];
  return known == kNowhere ? std::nullopt : std::optional(known);
}

bool FramePositions::is_callers(Register number) const {
  return is_callee_saved(number) && (changed_ >> index(number) & 1) == 0;
}

void FramePositions::set(Register number, std::optional<int64_t> from_cfa) {
  bool fits = from_cfa && *from_cfa > -kMaxFromCfa && *from_cfa < kMaxFromCfa;
  from_cfa_[index(number)] = fits ? static_cast<int32_t>(*from_cfa) : kNowhere;
  changed_ |= 1u << index(number);
  if (number == return_register_) return_register_.reset();
  if (number == Register::rsp) forget_popped_slots();
}

void FramePositions::write(Register number) { set(number, std::nullopt); }

// What a frame above rsp held was put back before, or never changed.
void FramePositions::forget_popped_slots() {
  auto depth = from_cfa(Register::rsp);
  if (!depth) return;
  for (size_t i = 0; i < kRegisterCount; ++i) {
    if (slot_[i] <= *depth) continue;
    slot_[i] = 0;
  }
}

void FramePositions::store(Register number, std::optional<int64_t> slot_from_cfa) {
  if (!slot_from_cfa || *slot_from_cfa < kFirstSlot || *slot_from_cfa >= kMaxFromCfa) return;
  if (is_callers(number) && slot_[index(number)] == 0)
    slot_[index(number)] = static_cast<int32_t>(*slot_from_cfa);
}

void FramePositions::load(Register number, std::optional<int64_t> slot_from_cfa) {
  bool is_back = slot_[index(number)] != 0 && slot_from_cfa == slot_[index(number)];
  write(number);
  if (is_back) changed_ &= ~(1u << index(number));
}

void FramePositions::put_back_return_address() {
  return_register_.reset();
  from_cfa_.fill(kNowhere);
  from_cfa_[index(Register::rsp)] = 8;
  // What had been saved was taken back before the return address could be.
  slot_.fill(0);
}

void FramePositions::push(std::optional<Register> number, int64_t size) {
  if (number && number == return_register_) return put_back_return_address();
  auto slot = minus(from_cfa(Register::rsp), -size);
  if (number && size == 8) store(*number, slot);
  set(Register::rsp, slot);
}

void FramePositions::pop(std::optional<Register> number, int64_t size) {
  auto slot = from_cfa(Register::rsp);
  if (number) load(*number, slot);
  if (number != Register::rsp) set(Register::rsp, minus(slot, size));
  if (number && slot == 8) return_register_ = number;
}

void FramePositions::follow(const Instruction& its) {
  auto target = its.target.value_or(Register::rip), source = its.source.value_or(Register::rip);
  switch (its.kind) {
    case Kind::kPush:
      return push(its.source, its.value);
    case Kind::kPop:
      if (!its.target) break;
      return pop(its.target, its.value);
    case Kind::kMove:
      return set(target, from_cfa(source));
    case Kind::kAdd:
      return set(target, minus(from_cfa(target), its.value));
    case Kind::kLea:
      return set(target, minus(from_cfa(source), its.value));
    case Kind::kStore:
      return store(target, minus(from_cfa(source), its.value));
    case Kind::kLoad:
      return load(target, minus(from_cfa(source), its.value));
    case Kind::kLeave:
      set(Register::rsp, from_cfa(Register::rbp));
      return pop(Register::rbp, 8);
    case Kind::kCall:
    case Kind::kCallFar:
      for (unsigned i = 0; i < kRegisterCount; ++i) {
        auto number = static_cast<Register>(i);
        if (!is_callee_saved(number) && number != Register::rsp) from_cfa_[i] = kNowhere;
      }
      if (return_register_ && !is_callee_saved(*return_register_)) return_register_.reset();
      return;
    default:
      break;
  }
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (!its.does_write(number)) continue;
    // Memory or a part of a register was popped.
    bool is_pop = its.kind == Kind::kPop && number == Register::rsp;
    set(number, is_pop ? minus(from_cfa(number), its.value) : std::nullopt);
  }
}

std::optional<FrameLayout> FramePositions::layout(CallState state) const {
  auto depth = from_cfa(Register::rsp);
  if (return_register_) {
    FrameLayout layout{.cfa_offset = 0, .return_register = return_register_};
    mark_lost(layout);
    return state == CallState::kAtInstruction ? std::optional(layout) : std::nullopt;
  }
  if (depth && *depth < 8) return std::nullopt;
  std::optional<Register> base;
  if (depth) base = Register::rsp;
  // A frame pointer stays right even where functions called pop their arguments (V8's do).
  bool is_frame_pointer = from_cfa(Register::rbp) == 16 && slot_[index(Register::rbp)] == 16;
  if (is_frame_pointer || (!base && from_cfa(Register::rbp))) base = Register::rbp;
  for (unsigned i = 0; i < kRegisterCount && !base; ++i) {
    auto number = static_cast<Register>(i);
    bool lasts = is_callee_saved(number) || state == CallState::kAtInstruction;
    if (lasts && from_cfa(number)) base = number;
  }
  FrameLayout layout{.base = base};
  if (base) layout.cfa_offset = *from_cfa(*base);
  mark_lost(layout);
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    bool is_below_rsp = depth && slot_[i] > *depth;
    if (slot_[i] != 0 && !is_below_rsp) layout.saved[i] = {Saved::Kind::kAtCfaOffset, -slot_[i]};
  }
  return layout;
}

void FramePositions::mark_lost(FrameLayout& layout) const {
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    if (!is_callers(static_cast<Register>(i))) layout.saved[i].kind = Saved::Kind::kLost;
  }
}

}  // namespace jitprof
