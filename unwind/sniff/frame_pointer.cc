// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/frame_pointer.h"

namespace jitprof {
namespace {

// The kernel maps nothing below by default (vm.mmap_min_addr), nor above where user space ends.
bool is_no_place_for_code(RuntimeAddr pc) { return pc.value < 0x10000 || pc.value >= uint64_t{1} << 47; }

UnwindInfo caller_at(RuntimeAddr cfa, uint64_t return_pc, const PendingFrame& frame) {
  UnwindInfo info;
  info.id.cfa = cfa;
  info.caller = frame.callee_saved();
  info.caller.set(Register::rip, return_pc);
  info.caller.set(Register::rsp, cfa.value);
  return info;
}

std::optional<UnwindInfo> leave_frameless(const PendingFrame& frame) {
  // Of code made at run time nothing is known, and what lies on top of its stack may be left over from a
  // call.
  bool is_known = is_no_place_for_code(frame.pc()) || !frame.code_at(frame.pc()).empty();
  if (!frame.place().is_exact || !is_known) return std::nullopt;
  auto sp = frame.find(Register::rsp);
  if (!sp) return std::nullopt;
  Recovered return_pc = frame.read({*sp});
  if (!return_pc.ok() || !frame.is_behind_call({return_pc.value()})) return std::nullopt;
  return caller_at({*sp + 8}, return_pc.value(), frame);
}

// "push %rbp; mov %rsp,%rbp" at the start, "ret" at the end: code of which the bounds are known, but not the
// bytes.
std::optional<UnwindInfo> leave_at_edge(const PendingFrame& frame) {
  const Module* module = frame.place().module;
  bool has_bounds_only =
      module != nullptr && module->jit != nullptr && !module->elf && module->jit->bytes.empty();
  auto sp = frame.find(Register::rsp);
  auto fp = frame.find(Register::rbp);
  if (!has_bounds_only || !frame.place().is_exact || !sp || !fp) return std::nullopt;
  uint64_t offset = frame.place().position.value;
  uint64_t slot = *sp;
  if (offset == 1) {
    // Whatever else takes one byte leaves no copy of rbp.
    Recovered pushed = frame.read({*sp});
    if (!pushed.ok() || pushed.value() != *fp) return std::nullopt;
    slot += 8;
  } else if (offset != 0 && offset + 1 != module->jit->size) {
    return std::nullopt;
  }
  Recovered return_pc = frame.read({slot});
  if (!return_pc.ok() || !frame.can_be_return_address({return_pc.value()})) return std::nullopt;
  return caller_at({slot + 8}, return_pc.value(), frame);
}

}  // namespace

std::optional<UnwindInfo> FramePointerSniffer::unwind(const PendingFrame& frame) const {
  if (auto info = leave_frameless(frame)) return info;
  if (auto info = leave_at_edge(frame)) return info;
  return may_guess(frame) ? leave_by_frame_pointer(frame) : std::nullopt;
}

bool FramePointerSniffer::may_guess(const PendingFrame& frame) const {
  const PendingFrame::Place& place = frame.place();
  if (place.module == nullptr) return false;
  CallState state = place.is_exact ? CallState::kAtInstruction : CallState::kInCall;
  auto layout = layouts_.find(*place.module, place.position, state);
  return !layout || layout->base == Register::rbp;
}

std::optional<UnwindInfo> leave_by_frame_pointer(const PendingFrame& frame) {
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
