// SPDX-License-Identifier: Apache-2.0
#include "output/view.h"

#include <algorithm>

namespace jitprof {

bool View::passes(const Profile& profile, const ProfileRow& row) const {
  if (!pid && !tid && !comm) return true;
  const ProfileThread& thread = profile.threads[row.thread.index];
  return (!pid || thread.pid == *pid) && (!tid || thread.tid == *tid) && (!comm || thread.comm == *comm);
}

bool View::shows(const Profile& profile, const ProfileRow& row) const {
  return row.event == profile.value_types[value].event && passes(profile, row);
}

uint64_t value_of(const ValueType& type, const ProfileRow& row) {
  if (row.event != type.event) return 0;
  return type.by_period ? row.weight : 1;
}

Result<uint32_t> find_value_type(const Profile& profile, const std::string& name) {
  std::string known;
  for (uint32_t index = 0; index < profile.value_types.size(); ++index) {
    if (profile.value_types[index].name == name) return index;
    known += (known.empty() ? "" : ", ") + profile.value_types[index].name;
  }
  return Error{"there is no value '" + name + "' in this profile; it has: " + known};
}

std::vector<WeightedStack> aggregate(const Profile& profile, const View& view) {
  const ValueType& type = profile.value_types[view.value];
  std::vector<uint64_t> sums(profile.stacks.size());
  for (const ProfileRow& row : profile.rows) {
    if (view.passes(profile, row)) sums[row.stack.index] += value_of(type, row);
  }
  std::vector<WeightedStack> stacks;
  for (uint32_t index = 0; index < sums.size(); ++index) {
    if (sums[index] != 0) stacks.push_back({{index}, sums[index]});
  }
  return stacks;
}

void expand(const Profile& profile, const View& view, StackId stack, std::vector<ShownFrame>& shown) {
  // Filled from the leaf, then turned round: the nodes know their callers only.
  shown.clear();
  for (StackId at = stack; !at.is_none(); at = profile.stacks[at.index].caller) {
    ProfileFrameId id = profile.stacks[at.index].frame;
    const std::vector<SourceFrame>& lines = profile.frames[id.index].lines;
    for (size_t index = view.inlined ? 0 : lines.size() - 1; index < lines.size(); ++index) {
      ShownFrame frame;
      frame.function = lines[index].function;
      frame.frame = id;
      frame.depth_inlined = static_cast<uint32_t>(lines.size() - 1 - index);
      frame.file = lines[index].file;
      frame.line = lines[index].line;
      shown.push_back(frame);
    }
  }
  std::reverse(shown.begin(), shown.end());
}

}  // namespace jitprof
