// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "output/profile.h"
#include "symbolize/symbolizer.h"
#include "unwind/space/process_table.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

// Turns the samples of one run after another into a Profile. Keeps a row per sample, a node per new stack and
// each distinct Frame once; names come at the end, once per distinct frame.
class ProfileBuilder {
 public:
  ProfileBuilder();

  // What travels beside a stack.
  struct Context {
    uint64_t time_ns = 0;
    uint64_t period = 0;
    ProfileThreadId thread;
    uint32_t cpu = 0;
    uint16_t event = 0;
  };
  // Between begin_run and finish_run, stacks refer to `modules`, which must live until then. A frame that an
  // earlier run had in the same module (path and build-id) is the same frame.
  void begin_run(const ModuleTable& modules);
  ProfileThreadId add_thread(const ProfileThread& thread);
  void add(const Context& context, const UnwoundStack& stack);
  // Names the frames that the run brought.
  void finish_run(Symbolizer& symbolizer);

  // Header fields and value_types are the caller's to fill. `names` must be the one that the symbolizers
  // used.
  Profile& profile() { return profile_; }

 private:
  struct FrameHash {
    size_t operator()(const Frame& frame) const;
  };
  FrameId intern(const Frame& frame);
  StackId intern(StackId caller, FrameId frame);

  Profile profile_;
  const ModuleTable* modules_ = nullptr;
  uint16_t run_ = 0;
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  std::unordered_map<uint64_t, StackId> stack_ids_;  // caller << 32 | frame
};

}  // namespace jitprof
