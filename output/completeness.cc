// SPDX-License-Identifier: Apache-2.0
#include "output/completeness.h"

namespace jitprof {
namespace {

// perf_event_open takes no larger sample_stack_user.
constexpr uint64_t kMostStackBytes = 65528;

std::string fix_for_truncated(uint64_t stack_size) {
  if (stack_size >= kMostStackBytes)
    return "the stack is deeper than the 65528 bytes that the kernel copies at most";
  std::string than = stack_size > 0 ? " than " + std::to_string(stack_size) + ", up to 65528" : "";
  return "record with a larger --stack-size" + than + "; with perf: --call-graph dwarf,SIZE";
}

std::string fix_for_unknown_code(const Profile& profile, ProfileFrameId outermost) {
  const ProfileFrame& frame = profile.frames[outermost.index];
  if (frame.kind == ProfileFrame::Kind::kJit) {
    return "JIT code: let 'jitprof record' start its runtime (--jit auto), run it with frame pointers (java: "
           "-XX:+PreserveFramePointer), or give it a --sniffer";
  }
  Module::Problem problem =
      frame.module.is_none() ? Module::Problem::kNone : profile.modules[frame.module.index].problem;
  if (problem != Module::Problem::kNone) return describe(problem);
  return "nothing says how to leave this code: build it with -fasynchronous-unwind-tables or "
         "-fno-omit-frame-pointer, or give it a --sniffer";
}

}  // namespace

std::vector<StackEnd> find_stack_ends(const Profile& profile) {
  // Callers have smaller ids, so one pass carries the ends from the roots to every leaf.
  std::vector<StackEnd> ends(profile.stacks.size());
  for (size_t index = 0; index < ends.size(); ++index) {
    const StackNode& node = profile.stacks[index];
    const ProfileFrame& frame = profile.frames[node.frame.index];
    if (!node.caller.is_none()) ends[index] = ends[node.caller.index];
    if (frame.stop != StopReason::kReachedRoot) {
      ends[index].reason = frame.stop;
    } else if (ends[index].outermost.is_none()) {
      ends[index].outermost = node.frame;
    }
  }
  return ends;
}

Completeness count_complete(const Profile& profile, const View& view) {
  std::vector<StackEnd> ends = find_stack_ends(profile);
  Completeness counts;
  for (const ProfileRow& row : profile.rows) {
    if (!view.shows(profile, row)) continue;
    ++counts.stacks;
    ++counts.by_reason[static_cast<size_t>(ends[row.stack.index].reason)];
  }
  return counts;
}

std::string fix_for(const Profile& profile, const StackEnd& end) {
  switch (end.reason) {
    case StopReason::kReachedRoot:
      return "";
    case StopReason::kTruncated:
      return fix_for_truncated(profile.stack_size);
    case StopReason::kNoUnwindInfo:
      return end.outermost.is_none() ? "" : fix_for_unknown_code(profile, end.outermost);
    case StopReason::kUnreadable:
      return "what leads on was not copied: stack behind pages that were never touched (of a large local "
             "array) or "
             "are paged out or torn down, a register that is not recorded, or, where unwind information is "
             "wrong, no stack at all";
    case StopReason::kNoProgress:
      return "it leads back down the stack: the unwind information there is wrong, or the program switches "
             "stacks "
             "by itself";
    case StopReason::kDepthLimit:
      return "the unwind information there is wrong: it leads to more frames than the stack can hold";
    case StopReason::kUnmapped:
      return "a jump or a return address leads to no known code: a call through a wild pointer, the bottom "
             "of a stack that the program made itself "
             "(makecontext, fibers), a stack of another layout, or an overwritten one";
    case StopReason::kRecordedChain:
      return "record with --call-graph stack; with perf: --call-graph dwarf";
    case StopReason::kOtherStack:
      return "the kernel copies only the stack in use, and the caller is on another: a signal handler ran on "
             "an "
             "alternate stack, or the program switches stacks by itself";
  }
  return "";
}

}  // namespace jitprof
