// SPDX-License-Identifier: Apache-2.0
#include "unwind/stack_memory.h"

#include <cstring>

namespace jitprof {
namespace {

// How far above its first copied byte a stack may reach. The true end is not in the recording; a pointer
// farther away than this (the main thread's default limit is 8 MiB, ulimit -s is rarely above 1 GiB) is no
// stack slot but a wrong value.
constexpr uint64_t kLargestStack = uint64_t{1} << 30;

}  // namespace

Recovered StackMemory::read(RuntimeAddr position, unsigned size) const {
  bool is_behind_cut = false;
  for (const StackSegment& segment : segments_) {
    if (position < segment.start) continue;
    uint64_t inside = position.distance_from(segment.start);
    uint64_t copied = segment.bytes.size();
    if (inside < copied && size <= copied - inside) {
      uint64_t value = 0;
      std::memcpy(&value, segment.bytes.data() + inside, size);
      return value;
    }
    if (copied >= segment.asked && inside < kLargestStack) is_behind_cut = true;
  }
  return is_behind_cut ? StopReason::kTruncated : StopReason::kUnreadable;
}

bool StackMemory::may_hold(RuntimeAddr position) const {
  for (const StackSegment& segment : segments_) {
    if (position >= segment.start && position.distance_from(segment.start) < kLargestStack) return true;
  }
  return false;
}

}  // namespace jitprof
