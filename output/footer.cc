// SPDX-License-Identifier: Apache-2.0
#include "output/footer.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "output/completeness.h"

namespace jitprof {
namespace {

bool is_cured_by_recording(StopReason reason) {
  return reason == StopReason::kTruncated || reason == StopReason::kRecordedChain;
}

// The most frequent reason first.
std::string describe_incomplete(const Profile& profile, const Completeness& counts) {
  std::vector<StopReason> reasons;
  for (unsigned index = 1; index < kStopReasonCount; ++index) {
    if (counts.by_reason[index] > 0) reasons.push_back(static_cast<StopReason>(index));
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [&](StopReason a, StopReason b) { return counts.count(a) > counts.count(b); });

  uint64_t incomplete = counts.stacks - counts.complete();
  char share[32];
  std::snprintf(share, sizeof share, "%.1f",
                100.0 * static_cast<double>(incomplete) / static_cast<double>(counts.stacks));
  std::string text = std::to_string(incomplete) + " of " + std::to_string(counts.stacks) + " stacks (" +
                     share + " %) are incomplete";
  const char* separator = ": ";
  for (StopReason reason : reasons) {
    std::string_view bracket = bracket_of(reason);  // "[truncated]"
    text += separator + std::to_string(counts.count(reason)) + " " +
            std::string(bracket.substr(1, bracket.size() - 2));
    if (is_cured_by_recording(reason)) text += " (" + fix_for(profile, {.reason = reason}) + ")";
    separator = ", ";
  }
  return text;
}

}  // namespace

std::vector<std::string> footer_lines(const Profile& profile, const View& view) {
  std::vector<std::string> lines;
  Completeness counts = count_complete(profile, view);
  if (counts.complete() < counts.stacks) lines.push_back(describe_incomplete(profile, counts));
  for (std::string& line : missing_lines(profile)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> missing_lines(const Profile& profile) {
  std::vector<std::string> lines;
  if (profile.lost > 0) {
    lines.push_back(std::to_string(profile.lost) +
                    (profile.lost == 1 ? " record was lost" : " records were lost") +
                    " while recording (not in any total): record with a lower -F or a smaller --stack-size");
  }
  for (const auto& [name, count] : profile.shortfalls) {
    lines.push_back(count == 1 ? name : name + ": " + std::to_string(count));
  }
  return lines;
}

}  // namespace jitprof
