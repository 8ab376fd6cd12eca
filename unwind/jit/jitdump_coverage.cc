// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/jitdump_coverage.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace jitprof {
namespace {

// Where there is code: disjoint ranges. Code that was replaced leaves its place to other code.
class CodeRanges {
 public:
  void apply(const JitChange& change) {
    if (change.kind != JitChange::Kind::kLoad) remove(change.start.value, change.start.value + change.size);
    if (change.kind == JitChange::Kind::kLoad) add(change.start.value, change.start.value + change.size);
    if (change.kind == JitChange::Kind::kMove)
      add(change.moved_to.value, change.moved_to.value + change.size);
  }

  bool overlaps(uint64_t start, uint64_t end) const {
    auto next = ranges_.lower_bound(end);
    return next != ranges_.begin() && std::prev(next)->second > start;
  }

 private:
  void add(uint64_t start, uint64_t end) {
    remove(start, end);
    ranges_.emplace(start, end);
  }

  void remove(uint64_t start, uint64_t end) {
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.begin() && std::prev(next)->second > start) {
      uint64_t old_end = std::exchange(std::prev(next)->second, start);
      if (old_end > end) ranges_.emplace_hint(next, end, old_end);
    }
    while (next != ranges_.end() && next->first < end) {
      uint64_t old_end = next->second;
      next = ranges_.erase(next);
      if (old_end > end) ranges_.emplace_hint(next, end, old_end);
    }
  }

  std::map<uint64_t, uint64_t> ranges_;  // end by start
};

// Finds what a jitdump loaded by place and time.
class Loads {
 public:
  explicit Loads(std::span<const JitChange> jitdumps) {
    for (const JitChange& change : jitdumps) {
      if (change.kind == JitChange::Kind::kLoad)
        loads_.emplace_back(change.start.value, change.size, change.time_ns);
    }
    std::ranges::sort(loads_);
  }

  // Between the two looks between which the line was written.
  bool has(const PerfMapEntry& line) const {
    Load first(line.start.value, line.size, line.times.from_ns);
    auto found = std::ranges::lower_bound(loads_, first);
    return found != loads_.end() && *found <= Load(line.start.value, line.size, line.times.seen_ns);
  }

 private:
  using Load = std::tuple<uint64_t, uint64_t, uint64_t>;  // start, size, time
  std::vector<Load> loads_;
};

// How many lines there are up to the last one that a jitdump has too.
size_t count_of_shared_part(std::span<const PerfMapEntry> lines, std::span<const JitChange> jitdumps) {
  Loads loads(jitdumps);
  for (size_t count = lines.size(); count > 0; --count) {
    if (loads.has(lines[count - 1])) return count;
  }
  // They tell of different things, or of one thing at different times.
  return lines.size();
}

}  // namespace

std::vector<MapLine> judge_map_lines(std::span<const PerfMapEntry> lines,
                                     std::span<const JitChange> jitdumps) {
  std::vector<MapLine> verdicts(lines.size(), MapLine::kNews);
  if (jitdumps.empty()) return verdicts;
  size_t shared = count_of_shared_part(lines, jitdumps);
  CodeRanges covered;
  size_t applied = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    while (applied < jitdumps.size() && jitdumps[applied].time_ns <= lines[i].times.seen_ns)
      covered.apply(jitdumps[applied++]);
    if (covered.overlaps(lines[i].start.value, lines[i].start.value + lines[i].size))
      verdicts[i] = i < shared ? MapLine::kTold : MapLine::kBehindEnd;
  }
  return verdicts;
}

}  // namespace jitprof
