// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
  explicit StackMemory(const Sample& sample) : segments_(sample.stack.data(), sample.stack_count) {}

  // The little-endian value of `size` (1, 2, 4 or 8) bytes. kTruncated when the bytes lie behind a copy that
  // the asked size cut off; kUnreadable when they lie anywhere else, so also behind a copy that is shorter
  // than asked: there the memory ended, or was being torn down (execve copies nothing), or the kernel would
  // have had to bring a page in.
  Recovered read(RuntimeAddr position, unsigned size = 8) const;

 private:
  std::span<const StackSegment> segments_;
};

}  // namespace jitprof
