// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwound_stack.h"

#include <array>

namespace jitprof {

const char* name_of(StopReason reason) {
  static constexpr std::array<const char*, kStopReasonCount> kNames = {
      "reached_root", "truncated", "no_unwind_info", "unreadable", "no_progress",
      "depth_limit",  "unmapped",  "recorded_chain", "other_stack"};
  return kNames[static_cast<unsigned>(reason)];
}

const char* bracket_of(StopReason reason) {
  static constexpr std::array<const char*, kStopReasonCount> kBrackets = {"",
                                                                          "[truncated]",
                                                                          "[no unwind info]",
                                                                          "[unreadable]",
                                                                          "[no progress]",
                                                                          "[depth limit]",
                                                                          "[unmapped]",
                                                                          "[recorded chain ends]",
                                                                          "[other stack]"};
  return kBrackets[static_cast<unsigned>(reason)];
}

UnwoundStack::Elided elided_of(uint64_t depth, uint32_t max_depth) {
  if (depth <= max_depth) return {};
  return {.at = (uint64_t{max_depth} + 1) / 2, .count = depth - max_depth};
}

}  // namespace jitprof
