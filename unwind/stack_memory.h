// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/position.h"
#include "profiler/event.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

// A value taken out of a sample, or the reason why the walk must end without it.
class Recovered {
 public:
  Recovered(uint64_t value) : value_(value) {}
  Recovered(StopReason problem) : value_(static_cast<uint64_t>(problem)), ok_(false) {}

  bool ok() const { return ok_; }
  uint64_t value() const { return value_; }
  StopReason problem() const { return static_cast<StopReason>(value_); }

 private:
  uint64_t value_;
  bool ok_ = true;
};

// The stack bytes of one sample, which must outlive it.
class StackMemory {
 public:
  explicit StackMemory(const Sample& sample) : segments_(sample.stack.data(), sample.stack_count) {
    if (!segments_.empty()) first_ = segments_.front();
  }

  // The little-endian value of `size` (1, 2, 4 or 8) bytes. kTruncated when the bytes lie behind a copy that
  // the asked size cut off; kUnreadable when they lie anywhere else, so also behind a copy that is shorter
  // than asked: there the memory ended, or was being torn down (execve copies nothing), or the kernel would
  // have had to bring a page in.
  Recovered read(RuntimeAddr position, unsigned size) const;
  // The same for a stack slot, quickly: walks read nothing else.
  Recovered read(RuntimeAddr position) const {
    uint64_t inside = position.distance_from(first_.start);
    if (inside < first_.bytes.size() && first_.bytes.size() - inside >= 8) [[likely]] {
      uint64_t value;
      std::memcpy(&value, first_.bytes.data() + inside, sizeof value);
      return value;
    }
    return read(position, 8);
  }

  // Whether the position may belong to the stack: it is recorded, or above what was recorded but no farther
  // than a stack is large.
  bool may_hold(RuntimeAddr position) const;

 private:
  StackSegment first_;
  std::span<const StackSegment> segments_;
};

}  // namespace jitprof
