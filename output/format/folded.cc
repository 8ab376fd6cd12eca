// SPDX-License-Identifier: Apache-2.0
#include "output/format/folded.h"

#include <algorithm>
#include <string>

#include "base/one_line.h"
#include "output/format/quantity.h"

namespace jitprof {
namespace {

// An inlined frame is marked as such whatever it is inlined into.
const char* annotation_of(const ShownFrame& shown, const ProfileFrame& frame) {
  if (shown.depth_inlined > 0) return "_[i]";
  if (frame.kind == ProfileFrame::Kind::kJit) return "_[j]";
  if (frame.kind == ProfileFrame::Kind::kKernel) return "_[k]";
  return "";
}

std::string as_folded(std::string_view name) {
  std::string text = on_one_line(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

}  // namespace

void write_folded(const Profile& profile, const View& view, const FoldedOptions& options, std::ostream& out) {
  std::vector<std::string> names(profile.names.function_count());
  for (uint32_t index = 0; index < names.size(); ++index) {
    const Function& function = profile.names.function({index});
    names[index] = as_folded(profile.names.text(options.signatures ? function.signature : function.name));
  }

  std::vector<std::pair<std::string, uint64_t>> lines;
  std::vector<ShownFrame> shown;
  for (const WeightedStack& stack : aggregate(profile, view)) {
    expand(profile, view, stack.stack, shown);
    std::string text;
    for (const ShownFrame& frame : shown) {
      if (!text.empty()) text += ';';
      text += names[frame.function.index];
      if (options.annotate) text += annotation_of(frame, profile.frames[frame.frame.index]);
    }
    lines.emplace_back(std::move(text), stack.weight);
  }
  std::sort(lines.begin(), lines.end());
  for (size_t index = 0; index < lines.size();) {
    uint64_t sum = 0;
    size_t next = index;
    for (; next < lines.size() && lines[next].first == lines[index].first; ++next) sum += lines[next].second;
    out << lines[index].first << ' ' << sum << '\n';
    index = next;
  }
}

}  // namespace jitprof
