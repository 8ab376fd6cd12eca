// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/frame_pointer.h"

namespace jitprof {
namespace {

std::optional<UnwindInfo> leave_frameless(const PendingFrame& frame) {
  // Of code made at run time nothing is known, and what lies on top of its stack may be left over from a
  // call.
  if (!frame.place().is_exact || frame.code_at(frame.pc()).empty()) return std::nullopt;
  auto sp = frame.find(Register::rsp);
  if (!sp) return std::nullopt;
  Recovered return_pc = frame.read({*sp});
  if (!return_pc.ok() || !frame.is_behind_call({return_pc.value()})) return std::nullopt;
  UnwindInfo info;
  info.id.cfa = {*sp + 8};
  info.caller.set(Register::rip, return_pc.value());
  info.caller.set(Register::rsp, *sp + 8);
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (!is_callee_saved(number) || !frame.follows(number)) continue;
    if (auto value = frame.find(number)) info.caller.set(number, *value);
  }
  return info;
}

}  // namespace

std::optional<UnwindInfo> FramePointerSniffer::unwind(const PendingFrame& frame) const {
  if (auto info = leave_frameless(frame)) return info;
  auto fp = frame.find(Register::rbp);
  if (!fp || *fp % 8 != 0 || RuntimeAddr{*fp} < frame.place().low) return std::nullopt;
  Recovered callers_fp = frame.read({*fp});
  Recovered return_pc = frame.read({*fp + 8});
  UnwindInfo info;
  info.id.cfa = {*fp + 16};
  for (Recovered slot : {callers_fp, return_pc}) {
    if (slot.ok()) continue;
    if (slot.problem() != StopReason::kTruncated) return std::nullopt;
    info.stop = StopReason::kTruncated;
    return info;
  }
  if (!frame.can_be_return_address({return_pc.value()})) return std::nullopt;
  info.caller.set(Register::rip, return_pc.value());
  info.caller.set(Register::rsp, *fp + 16);
  info.caller.set(Register::rbp, callers_fp.value());
  return info;
}

}  // namespace jitprof
