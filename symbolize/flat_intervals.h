// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/position.h"

namespace jitprof {

// Intervals that nest and overlap, flattened once so that each position has one owner: the one of the highest
// rank, among equals the one with the greater owner number. Immutable.
class FlatIntervals {
 public:
  struct Interval {
    uint64_t start = 0;
    uint64_t end = 0;  // exclusive
    uint32_t rank = 0;
    uint32_t owner = 0;
  };

  FlatIntervals() = default;
  explicit FlatIntervals(std::vector<Interval> intervals);

  std::optional<uint32_t> find(ElfAddr position) const;
  size_t size() const { return pieces_.size(); }

 private:
  static constexpr uint32_t kNobody = 0xffffffff;
  struct Piece {
    uint64_t start;
    uint32_t owner;
  };
  // Sorted; a piece reaches to the next one's start.
  std::vector<Piece> pieces_;
};

}  // namespace jitprof
