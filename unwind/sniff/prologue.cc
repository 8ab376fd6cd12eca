// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/prologue.h"

namespace jitprof {
namespace {

using Saved = FrameLayout::Saved;

void give_saved(const FrameLayout& layout, const PendingFrame& frame, UnwindInfo& info) {
  // What is kept has to be looked up only if something else is not.
  info.keeps_callee_saved = true;
  std::array<bool, kRegisterCount> is_lost{};
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (!is_callee_saved(number)) continue;
    const Saved& saved = layout.of(number);
    is_lost[i] = saved.kind == Saved::Kind::kLost;
    if (saved.kind == Saved::Kind::kAtCfaOffset) {
      Recovered value = frame.read(info.id.cfa.plus(static_cast<uint64_t>(int64_t{saved.offset})));
      if (value.ok()) info.caller.set(number, value.value());
      is_lost[i] = !value.ok();
    }
    if (is_lost[i]) info.keeps_callee_saved = false;
  }
  if (info.keeps_callee_saved) return;
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (!is_callee_saved(number) || is_lost[i] || info.caller.knows(number)) continue;
    if (auto value = frame.find(number)) info.caller.set(number, *value);
  }
}

}  // namespace

std::optional<FrameLayout> layout_of(const PendingFrame& frame, const FunctionCode& function) {
  bool is_exact = frame.place().is_exact;
  uint64_t offset = frame.place().position.distance_from(function.start);
  return decode_frame(function.bytes, offset, is_exact ? CallState::kAtInstruction : CallState::kInCall);
}

std::optional<UnwindInfo> leave_by(const FrameLayout& layout, const PendingFrame& frame) {
  auto base = frame.find(layout.base);
  if (!base) return std::nullopt;
  UnwindInfo info;
  info.id.cfa = {*base + static_cast<uint64_t>(int64_t{layout.cfa_offset})};
  uint64_t return_pc = 0;
  if (layout.return_register) {
    auto value = frame.find(*layout.return_register);
    if (!value) return std::nullopt;
    return_pc = *value;
  } else {
    Recovered read = frame.read(info.id.cfa.minus(8));
    if (!read.ok() && read.problem() != StopReason::kTruncated) return std::nullopt;
    if (!read.ok()) {
      info.stop = StopReason::kTruncated;
      return info;
    }
    return_pc = read.value();
  }
  if (!frame.can_be_return_address({return_pc})) return std::nullopt;
  info.caller.set(Register::rip, return_pc);
  info.caller.set(Register::rsp, info.id.cfa.value);
  give_saved(layout, frame, info);
  return info;
}

std::optional<UnwindInfo> PrologueSniffer::unwind(const PendingFrame& frame) const {
  const Module* module = frame.place().module;
  if (module == nullptr) return std::nullopt;
  auto function = starts_.of(*module, frame.place().position);
  if (!function) return std::nullopt;
  auto layout = layout_of(frame, *function);
  // Behind what may be the function's end stands perhaps another one.
  if (!layout || (layout->is_guess && !function->has_end)) return std::nullopt;
  return leave_by(*layout, frame);
}

}  // namespace jitprof
