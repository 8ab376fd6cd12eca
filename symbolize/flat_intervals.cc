// SPDX-License-Identifier: Apache-2.0
#include "symbolize/flat_intervals.h"

#include <algorithm>
#include <queue>

namespace jitprof {

FlatIntervals::FlatIntervals(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& interval) { return interval.start >= interval.end; });
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::vector<uint64_t> ends;
  ends.reserve(intervals.size());
  for (const Interval& interval : intervals) ends.push_back(interval.end);
  std::sort(ends.begin(), ends.end());

  auto below = [](const Interval& a, const Interval& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.owner < b.owner;
  };
  std::priority_queue<Interval, std::vector<Interval>, decltype(below)> open(below);
  auto next = intervals.begin();
  auto end = ends.begin();
  // Every place where an interval starts or ends may change the owner.
  while (end != ends.end()) {
    uint64_t place = next != intervals.end() ? std::min(next->start, *end) : *end;
    while (end != ends.end() && *end == place) ++end;
    while (next != intervals.end() && next->start == place) open.push(*next++);
    while (!open.empty() && open.top().end <= place) open.pop();
    uint32_t owner = open.empty() ? kNobody : open.top().owner;
    if (pieces_.empty() || pieces_.back().owner != owner) pieces_.push_back({place, owner});
  }
}

std::optional<uint32_t> FlatIntervals::find(ElfAddr position) const {
  auto after = std::upper_bound(pieces_.begin(), pieces_.end(), position.value,
                                [](uint64_t p, const Piece& piece) { return p < piece.start; });
  if (after == pieces_.begin() || std::prev(after)->owner == kNobody) return std::nullopt;
  return std::prev(after)->owner;
}

}  // namespace jitprof
