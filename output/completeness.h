// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "output/view.h"

namespace jitprof {

// Where a stack of the profile ends, and why there.
struct StackEnd {
  StopReason reason = StopReason::kReachedRoot;
  ProfileFrameId outermost;  // the last frame found; none: not a single one was
};
// Of every stack, by StackId.
std::vector<StackEnd> find_stack_ends(const Profile& profile);

// How the stacks of a view end. Each sample is a stack.
struct Completeness {
  uint64_t stacks = 0;
  std::array<uint64_t, kStopReasonCount> by_reason{};

  uint64_t count(StopReason reason) const { return by_reason[static_cast<size_t>(reason)]; }
  uint64_t complete() const { return count(StopReason::kReachedRoot); }
};
Completeness count_complete(const Profile& profile, const View& view);

// What makes stacks with such an end complete, or what is known about it where nothing does; one line of
// prose.
std::string fix_for(const Profile& profile, const StackEnd& end);

}  // namespace jitprof
