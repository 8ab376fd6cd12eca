// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/position.h"

namespace jitprof {

// The stacks a walk has left through signal frames: an alternate stack leads to the interrupted one, which
// may lie anywhere, but never back to where the walk has been.
class WalkedRanges {
 public:
  explicit WalkedRanges(RuntimeAddr start) : low_(start) {}

  // The walk stands at `here` and would go on at `there`, on another stack. False when it must not.
  bool leave_for(RuntimeAddr here, RuntimeAddr there) {
    if (count_ == left_.size()) return false;
    left_[count_++] = {low_, here};
    for (unsigned i = 0; i < count_; ++i) {
      if (there >= left_[i].low && there <= left_[i].high) return false;
    }
    low_ = there;
    return true;
  }

 private:
  struct Range {
    RuntimeAddr low;
    RuntimeAddr high;
  };
  RuntimeAddr low_;  // where the walk of the present stack began
  // Signals are nested more deeply only if handlers are interrupted on alternate stacks again and again.
  std::array<Range, 8> left_;
  unsigned count_ = 0;
};

}  // namespace jitprof
