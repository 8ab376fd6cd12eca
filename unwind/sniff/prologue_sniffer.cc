// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/prologue_sniffer.h"

#include "unwind/sniff/caller_above.h"

namespace jitprof {
namespace {

using Saved = FrameLayout::Saved;

std::optional<uint64_t> callers_value(const PendingFrame& frame, Register number, const Saved& saved,
                                      RuntimeAddr cfa) {
  if (saved.kind == Saved::Kind::kKept) return frame.find(number);
  if (saved.kind == Saved::Kind::kLost) return std::nullopt;
  Recovered value = frame.read(cfa.plus(static_cast<uint64_t>(int64_t{saved.offset})));
  return value.ok() ? std::optional(value.value()) : std::nullopt;
}

Recovered return_address(const FrameLayout& layout, const PendingFrame& frame, RuntimeAddr cfa) {
  if (!layout.return_register) return frame.read(cfa.minus(8));
  auto kept = frame.find(*layout.return_register);
  return kept ? Recovered(*kept) : Recovered(StopReason::kUnreadable);
}

}  // namespace

std::optional<UnwindInfo> leave_by(const FrameLayout& layout, const PendingFrame& frame) {
  auto base = layout.base ? frame.find(*layout.base) : std::nullopt;
  if (!base) return std::nullopt;
  RuntimeAddr cfa{*base + static_cast<uint64_t>(int64_t{layout.cfa_offset})};
  std::optional<UnwindInfo> info = caller_above(cfa, return_address(layout, frame, cfa), {});
  if (!info || info->stop) return info;
  if (!frame.can_be_return_address({*info->caller.find(Register::rip)})) return std::nullopt;
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (!is_callee_saved(number) || !frame.follows(number)) continue;
    if (auto value = callers_value(frame, number, layout.of(number), cfa)) info->caller.set(number, *value);
  }
  return info;
}

std::optional<UnwindInfo> PrologueSniffer::unwind(const PendingFrame& frame) const {
  const PendingFrame::Place& place = frame.place();
  if (place.module == nullptr) return std::nullopt;
  CallState state = place.is_exact ? CallState::kAtInstruction : CallState::kInCall;
  auto layout = layouts_.find(*place.module, place.position, state);
  return layout ? leave_by(*layout, frame) : std::nullopt;
}

}  // namespace jitprof
