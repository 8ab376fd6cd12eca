// SPDX-License-Identifier: Apache-2.0
// Frames and names as V8 10 and 11 have them, seen in node 18 and 20.
#include "unwind/sniff/v8.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "unwind/jit/jit_code.h"
#include "unwind/sniff/prologue.h"

namespace jitprof {
namespace {

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [name](std::string_view begin) { return name.starts_with(begin); });
}

// Of code made at run time, and of builtins as published.
bool is_published_by_v8(std::string_view name) {
  return begins_with_one_of(name, {"JS:", "Builtin:", "BytecodeHandler:", "Eval:", "Script:", "Function:",
                                   "RegExp:", "Stub:", "JSToWasmFunction:", "WasmToJS"});
}

bool is_builtin(std::string_view name) {
  return begins_with_one_of(name, {"Builtins_", "Builtin:", "BytecodeHandler:"});
}

// What C++ calls to run JavaScript: JSEntry, JSConstructEntry, JSRunMicrotasksEntry.
bool is_entry(std::string_view name) {
  return begins_with_one_of(name, {"Builtins_JS", "Builtin:JS"}) && name.ends_with("Entry");
}

UnwindInfo caller_at(uint64_t cfa, uint64_t return_pc, uint64_t fp) {
  UnwindInfo info;
  info.id.cfa = {cfa};
  info.caller.set(Register::rip, return_pc);
  info.caller.set(Register::rsp, cfa);
  info.caller.set(Register::rbp, fp);
  return info;
}

std::optional<UnwindInfo> leave_by_frame_pointer(const PendingFrame& frame) {
  auto fp = frame.find(Register::rbp);
  if (!fp || *fp % 8 != 0 || RuntimeAddr{*fp} < frame.place().low) return std::nullopt;
  Recovered callers_fp = frame.read({*fp});
  Recovered return_pc = frame.read({*fp + 8});
  for (Recovered slot : {callers_fp, return_pc}) {
    if (slot.ok()) continue;
    if (slot.problem() != StopReason::kTruncated) return std::nullopt;
    UnwindInfo info;
    info.id.cfa = {*fp + 16};
    info.stop = StopReason::kTruncated;
    return info;
  }
  if (!frame.can_be_return_address({return_pc.value()})) return std::nullopt;
  return caller_at(*fp + 16, return_pc.value(), callers_fp.value());
}

// Sparkplug's code begins with mov $frame_size,%ebx; movabs $feedback,%r12; call BaselineOutOfLinePrologue,
// and that sets up the frame.
constexpr uint64_t kBaselineStart = 20;

bool is_baseline(std::string_view name) { return begins_with_one_of(name, {"JS:^", "Eval:^", "Script:^"}); }

std::optional<FrameLayout> layout_at(const PendingFrame& frame, const FunctionCode& function) {
  uint64_t offset = frame.place().position.distance_from(function.start);
  if (!is_baseline(function.name) || offset < kBaselineStart) return layout_of(frame, function);
  return decode_frame(function.bytes.subspan(kBaselineStart), offset - kBaselineStart,
                      CallState::kAtInstruction, Begins::kFramed);
}

std::optional<UnwindInfo> leave_by_code(const PendingFrame& frame, const FunctionCode& function) {
  auto layout = layout_at(frame, function);
  if (!layout) return std::nullopt;
  auto info = leave_by(*layout, frame);
  if (!info || info->stop || is_entry(function.name)) return info;
  // rbx and r12 to r15 belong to nobody in V8's code.
  auto fp = info->caller.find(Register::rbp);
  bool is_saved = layout->of(Register::rbp).kind == FrameLayout::Saved::Kind::kAtCfaOffset;
  // Nor is rbp ever anything but a frame pointer. BaselineOutOfLinePrologue makes one for its caller.
  if (!fp && !is_saved) fp = frame.find(Register::rbp);
  if (!fp) return std::nullopt;
  return caller_at(info->id.cfa.value, *info->caller.find(Register::rip), *fp);
}

// Where the return address still is on top of the stack, or below an rbp that was just pushed. What is pushed
// next is no place in code.
std::optional<UnwindInfo> leave_without_frame(const PendingFrame& frame) {
  uint64_t sp = frame.place().is_exact ? frame.find(Register::rsp).value_or(0) : frame.place().low.value;
  auto fp = frame.find(Register::rbp);
  if (!fp || *fp == sp) return std::nullopt;
  Recovered top = frame.read({sp});
  uint64_t slot = top.ok() && top.value() == *fp ? sp + 8 : sp;
  Recovered return_pc = frame.read({slot});
  if (!return_pc.ok() || !frame.can_be_return_address({return_pc.value()})) return std::nullopt;
  return caller_at(slot + 8, return_pc.value(), *fp);
}

// Of code made at run time the bytes may be unknown (perf maps have names only): how long it goes on without
// a frame.
uint64_t longest_frameless_start(std::string_view name) {
  constexpr uint64_t kOptimized = 15, kInterpreterEntry = 128;
  if (is_baseline(name)) return kBaselineStart;
  if (begins_with_one_of(name, {"JS:*", "JS:+", "Eval:*", "Eval:+"})) return kOptimized;
  if (begins_with_one_of(name, {"JS:~", "Eval:~", "Script:~"})) return kInterpreterEntry;
  return 0;
}

std::optional<UnwindInfo> leave_made_at_run_time(const PendingFrame& frame, const JitCode& code) {
  uint64_t offset = frame.place().position.value;
  bool may_lack_frame = frame.place().is_exact
                            ? code.bytes.empty() && offset < longest_frameless_start(code.name)
                            : is_baseline(code.name) && offset + 1 == kBaselineStart;
  if (!may_lack_frame) return std::nullopt;
  return leave_without_frame(frame);
}

}  // namespace

std::optional<UnwindInfo> V8Sniffer::unwind(const PendingFrame& frame) const {
  const Module* module = frame.place().module;
  if (module == nullptr) return std::nullopt;
  if (module->jit != nullptr) {
    if (module->elf || !is_published_by_v8(module->jit->name)) return std::nullopt;
    if (auto info = leave_made_at_run_time(frame, *module->jit)) return info;
  }
  auto function = starts_.of(*module, frame.place().position);
  if (module->jit == nullptr && (!function || !is_builtin(function->name))) return std::nullopt;
  if (function && (frame.place().is_exact || is_entry(function->name))) {
    if (auto info = leave_by_code(frame, *function)) return info;
  }
  // Without its bytes it may end here: that is for the frame pointer's sniffer to judge.
  if (!function && frame.place().is_exact) return std::nullopt;
  return leave_by_frame_pointer(frame);
}

}  // namespace jitprof
