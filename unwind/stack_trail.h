// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/position.h"
#include "profiler/event.h"

namespace jitprof {

// Where the last walk of a thread read its stack: the next one reads mostly the same places. No cache holds a
// recorded stack, and each place is known only once the one before was read, so a walk is one miss after the
// other, 100 ns each; asked for beforehand they overlap.
class StackTrail {
 public:
  StackTrail() = default;
  StackTrail(const StackTrail&) = delete;
  StackTrail& operator=(const StackTrail&) = delete;

  // Fetches the places of the thread's last walk in this stack, and starts a new trail.
  void follow(const Sample& sample) {
    trail_ = &trails_[sample.tid % trails_.size()];
    const StackSegment& segment = sample.stack[0];
    size_t kept = trail_->count < kPlaces ? trail_->count : kPlaces;
    for (size_t i = 0; i < kept; ++i) {
      uint64_t inside = trail_->places[i].distance_from(segment.start);
      if (inside < segment.bytes.size()) __builtin_prefetch(segment.bytes.data() + inside);
    }
    trail_->count = 0;
  }
  // The outermost places are kept: they are the ones that stay.
  void note(RuntimeAddr place) { trail_->places[trail_->count++ % kPlaces] = place; }

 private:
  static constexpr size_t kPlaces = 64;
  struct Trail {
    std::array<RuntimeAddr, kPlaces> places;
    size_t count = 0;
  };
  std::array<Trail, 32> trails_;  // by tid
  Trail* trail_ = &trails_[0];
};

}  // namespace jitprof
