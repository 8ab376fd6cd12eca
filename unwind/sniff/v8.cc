// SPDX-License-Identifier: Apache-2.0
// Frames and names as V8 10 and 11 have them, seen in node 18 and 20.
#include "unwind/sniff/v8.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "unwind/jit/jit_code.h"
#include "unwind/sniff/frame_pointer.h"
#include "unwind/sniff/instruction.h"
#include "unwind/sniff/prologue_sniffer.h"

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

bool is_baseline(std::string_view name) { return begins_with_one_of(name, {"JS:^", "Eval:^", "Script:^"}); }

// Sparkplug's code begins with mov $frame_size,%ebx; movabs $feedback,%r12 (or a shorter move); call
// BaselineOutOfLinePrologue; and that sets up the frame. How long that is; at most, if its bytes are unknown.
constexpr uint64_t kLongestBaselineStart = 64;
uint64_t baseline_start(Bytes code) {
  constexpr uint64_t kUsual = 20;
  for (uint64_t offset = 0; offset < std::min<uint64_t>(kLongestBaselineStart, code.size());) {
    auto its = decode_instruction(code.subspan(offset));
    if (!its) break;
    offset += its->size;
    if (its->kind == Instruction::Kind::kCall || its->kind == Instruction::Kind::kCallFar) return offset;
  }
  return kUsual;
}

// By how the code says that the frame stands.
std::optional<UnwindInfo> leave_by_layout(const PendingFrame& frame, const FrameLayout& layout,
                                          std::string_view name) {
  auto info = leave_by(layout, frame);
  if (!info || info->stop || is_entry(name)) return info;
  // rbx and r12 to r15 belong to nobody in V8's code.
  auto fp = info->caller.find(Register::rbp);
  bool is_saved = layout.of(Register::rbp).kind == FrameLayout::Saved::Kind::kAtCfaOffset;
  // Nor is rbp ever anything but a frame pointer. BaselineOutOfLinePrologue makes one for its caller; where
  // it calls on it has another one.
  if (!fp && !is_saved && frame.place().is_exact) fp = frame.find(Register::rbp);
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
  constexpr uint64_t kOptimized = 16, kInterpreterEntry = 128;
  if (is_baseline(name)) return baseline_start({});
  if (begins_with_one_of(name, {"JS:*", "JS:+", "Eval:*", "Eval:+"})) return kOptimized;
  if (begins_with_one_of(name, {"JS:~", "Eval:~", "Script:~"})) return kInterpreterEntry;
  return 0;
}

std::optional<UnwindInfo> leave_made_at_run_time(const PendingFrame& frame, const JitCode& code) {
  uint64_t offset = frame.place().position.value;
  bool may_lack_frame =
      frame.place().is_exact
          ? code.bytes.empty() && offset < longest_frameless_start(code.name)
          : offset < kLongestBaselineStart && is_baseline(code.name) && offset < baseline_start(code.bytes);
  if (!may_lack_frame) return std::nullopt;
  return leave_without_frame(frame);
}

}  // namespace

std::optional<FrameLayout> V8Sniffer::layout_of(const PendingFrame& frame,
                                                const FunctionStarts::Function& function) const {
  const PendingFrame::Place& place = frame.place();
  CallState state = place.is_exact ? CallState::kAtInstruction : CallState::kInCall;
  uint64_t offset = place.position.distance_from(function.start);
  Bytes code = place.module->code_from(function.start);
  uint64_t start = is_baseline(function.name) ? baseline_start(code) : 0;
  return layouts_.find(*place.module, place.position, state, start <= offset ? start : 0);
}

std::optional<UnwindInfo> V8Sniffer::unwind(const PendingFrame& frame) const {
  const PendingFrame::Place& place = frame.place();
  if (place.module == nullptr) return std::nullopt;
  const JitCode* code = place.module->elf ? nullptr : place.module->jit;
  if (code != nullptr) {
    if (!is_published_by_v8(code->name)) return std::nullopt;
    if (auto info = leave_made_at_run_time(frame, *code)) return info;
  }
  auto function = layouts_.function_at(*place.module, place.position);
  if (code == nullptr && (!function || !is_builtin(function->name))) return std::nullopt;
  // Baseline code that has called has its frame.
  if (function && (place.is_exact || !is_baseline(function->name))) {
    auto layout = layout_of(frame, *function);
    auto info = layout ? leave_by_layout(frame, *layout, function->name) : std::nullopt;
    if (info) return info;
  }
  // Interrupted where neither bytes nor layout say more it may have no frame (CallVarargs while it pushes
  // what it was given): what is left are guesses, which are another sniffer's.
  return place.is_exact ? std::nullopt : leave_by_frame_pointer(frame);
}

}  // namespace jitprof
