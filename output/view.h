// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "output/profile.h"

namespace jitprof {

// What of a profile an output shows: one value type, all rows of its event that pass the filters, with or
// without inlined functions. Every output of one view sums to the same total.
struct View {
  uint32_t value = 0;  // index into Profile::value_types
  bool inlined = true;
  std::optional<uint32_t> pid;
  std::optional<uint32_t> tid;
  std::optional<std::string> comm;

  // The filters alone: by pid, tid and comm.
  bool passes(const Profile& profile, const ProfileRow& row) const;
  // Whether the row is one of the view: passes, and is of the event.
  bool shows(const Profile& profile, const ProfileRow& row) const;
};

// What a row adds to a column: 0 when it is of another event.
uint64_t value_of(const ValueType& type, const ProfileRow& row);

// The index of a value type by its name; the error lists the names there are.
Result<uint32_t> find_value_type(const Profile& profile, const std::string& name);

// A stack and what the view's rows that ended in it sum to.
struct WeightedStack {
  StackId stack;
  uint64_t weight = 0;
};
// In order of stack id; without stacks of weight 0.
std::vector<WeightedStack> aggregate(const Profile& profile, const View& view);

// A source-level frame as outputs list it.
struct ShownFrame {
  FunctionId function;
  ProfileFrameId frame;        // the physical frame it belongs to
  uint32_t depth_inlined = 0;  // 0: the physical function; 1: inlined into it, …
  StringId file;
  uint32_t line = 0;
};
// Replaces `shown` by the frames of a stack, root first.
void expand(const Profile& profile, const View& view, StackId stack, std::vector<ShownFrame>& shown);

}  // namespace jitprof
