// SPDX-License-Identifier: Apache-2.0
#include "output/footer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace jitprof {
namespace {

struct Incomplete {
  uint64_t samples = 0;
  uint64_t all = 0;
  std::array<uint64_t, kStopReasonCount> by_reason{};
};

Incomplete count_incomplete(const Profile& profile, const View& view) {
  // A stack's end is its root's frame; callers have smaller ids, so one pass carries it to every leaf.
  std::vector<StopReason> stops(profile.stacks.size());
  for (size_t index = 0; index < stops.size(); ++index) {
    const StackNode& node = profile.stacks[index];
    stops[index] = node.caller.is_none() ? profile.frames[node.frame.index].stop : stops[node.caller.index];
  }
  Incomplete counts;
  for (const ProfileRow& row : profile.rows) {
    if (row.event != profile.value_types[view.value].event || !view.passes(profile, row)) continue;
    ++counts.all;
    StopReason stop = stops[row.stack.index];
    if (stop == StopReason::kReachedRoot) continue;
    ++counts.samples;
    ++counts.by_reason[static_cast<size_t>(stop)];
  }
  return counts;
}

const char* fix_for(StopReason reason) {
  switch (reason) {
    case StopReason::kTruncated:
      return "record with a larger --stack-size; with perf: --call-graph dwarf,SIZE";
    case StopReason::kRecordedChain:
      return "record with --call-graph stack; with perf: --call-graph dwarf";
    default:
      return nullptr;
  }
}

// The most frequent reason first.
std::string describe(const Incomplete& counts) {
  std::vector<StopReason> reasons;
  for (unsigned index = 0; index < kStopReasonCount; ++index) {
    if (counts.by_reason[index] > 0) reasons.push_back(static_cast<StopReason>(index));
  }
  auto count_of = [&counts](StopReason reason) { return counts.by_reason[static_cast<size_t>(reason)]; };
  std::stable_sort(reasons.begin(), reasons.end(),
                   [&](StopReason a, StopReason b) { return count_of(a) > count_of(b); });

  char share[32];
  std::snprintf(share, sizeof share, "%.1f",
                100.0 * static_cast<double>(counts.samples) / static_cast<double>(counts.all));
  std::string text = std::to_string(counts.samples) + " of " + std::to_string(counts.all) + " stacks (" +
                     share + " %) are incomplete";
  const char* separator = ": ";
  for (StopReason reason : reasons) {
    std::string_view bracket = bracket_of(reason);  // "[truncated]"
    text += separator + std::to_string(count_of(reason)) + " " +
            std::string(bracket.substr(1, bracket.size() - 2));
    if (const char* fix = fix_for(reason)) text += std::string(" (") + fix + ")";
    separator = ", ";
  }
  return text;
}

}  // namespace

std::vector<std::string> footer_lines(const Profile& profile, const View& view) {
  std::vector<std::string> lines;
  if (profile.lost > 0) {
    lines.push_back(std::to_string(profile.lost) +
                    (profile.lost == 1 ? " record was lost" : " records were lost") +
                    " while recording (not in any total): record with a lower -F or a smaller --stack-size");
  }
  if (Incomplete counts = count_incomplete(profile, view); counts.samples > 0)
    lines.push_back(describe(counts));
  for (const auto& [name, count] : profile.shortfalls) {
    lines.push_back(count == 1 ? name : name + ": " + std::to_string(count));
  }
  return lines;
}

}  // namespace jitprof
