// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output/profile.h"

namespace jitprof::tests {

// Makes a Profile from a few lines, so that a test shows its whole input. A line is a folded stack, root
// first, and how many samples it had: "main;work;helper_[i] 3". Endings: _[i] inlined into the frame before
// it, _[j] JIT code,
// _[k] kernel code, _[l] of a library, _[r] of a runtime (in a profile that knows lines); "[truncated]" and
// the other names of bracket frames are these. A line "@12/13 worker" makes the lines after it samples of
// thread 13 of process 12, named "worker"; "@1/1 main" to begin with.
// "#event N" makes them samples of event N (0, 1). Values are samples and cpu (nanoseconds) of event 0,
// cycles.samples and cycles of event 1; the n-th row of all weighs 1,000,000 + n.
Profile parse_text_profile(std::string_view text);

// For tests that put profiles together themselves.
class ProfileMaker {
 public:
  FunctionId function(std::string_view name, std::string_view signature = {},
                      std::string_view linkage_name = {}, std::string_view file = {}, uint32_t line = 0);
  ProfileFrameId frame(ProfileFrame frame);
  StackId stack(StackId caller, ProfileFrameId frame);
  void rows(StackId stack, ProfileThreadId thread, uint64_t count, uint16_t event = 0);
  ProfileThreadId thread(uint32_t pid, uint32_t tid, const std::string& comm);

  Profile profile;

 private:
  std::map<std::pair<StackId, ProfileFrameId>, StackId> stack_ids_;
};

}  // namespace jitprof::tests
