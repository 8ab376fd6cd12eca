// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "output/profile.h"
#include "output/tree_index.h"
#include "symbolize/symbolizer.h"
#include "unwind/space/process_table.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

// Turns the samples of one run after another into a Profile. Keeps a row per sample, a node per new stack and
// each distinct Frame once; names come at the end, once per distinct frame.
class ProfileBuilder {
 public:
  // What travels beside a stack.
  struct Context {
    uint64_t time_ns = 0;
    uint64_t period = 0;
    ProfileThreadId thread;
    uint32_t cpu = 0;
    uint16_t event = 0;
  };
  // Between begin_run and finish_run, stacks refer to `modules`, which must live until then. A frame that an
  // earlier run had in the same module (path and build-id) is the same frame. At most 65,536 runs.
  void begin_run(const ModuleTable& modules);
  ProfileThreadId add_thread(const ProfileThread& thread);
  // A stack without any frame becomes its bracket frame alone ("[unreadable]" when it claims to be whole).
  void add(const Context& context, const UnwoundStack& stack);
  // Names the frames that the run brought.
  void finish_run(Symbolizer& symbolizer);

  // Header fields, value_types and sniffer_names are the caller's to fill. `names` must be the one that the
  // symbolizers used.
  Profile& profile() { return profile_; }

 private:
  // What makes frames of a profile the same one. How a frame was found (FrameOrigin) is no part of it.
  struct FrameKey {
    ModuleId module;  // of the profile
    ElfAddr position;
    bool in_kernel = false;
    StopReason bracket = StopReason::kReachedRoot;
    uint64_t elided = 0;
    uint32_t jit_code = 0;  // which, of code made at run time: its positions count from its own start
    bool operator==(const FrameKey&) const = default;
  };
  struct FrameHash {
    size_t operator()(const FrameKey& key) const;
  };
  // A frame of the sample before, and the stack that ends in it.
  struct Step {
    Frame frame;
    StackId stack;
  };
  ModuleId intern_module(ModuleId of_run);
  ProfileFrameId intern_frame(const Frame& frame);
  ProfileFrameId intern_bracket(StopReason stop, uint64_t elided);
  using StackIndex = TreeIndex<StackId, StackNode>;
  StackIndex::Found intern_stack(StackIndex::Found caller, ProfileFrameId frame);
  StackIndex::Found root_of(StopReason stop);
  StackId find_stack(const UnwoundStack& stack);
  void count(const std::vector<Frame>& frames);
  void add_to_finder(const Frame& frame, uint64_t count);
  void name_bracket(ProfileFrame& frame);
  void note_names(const ProfileFrame& frame);

  Profile profile_;
  const ModuleTable* modules_ = nullptr;
  uint16_t run_ = 0;
  std::map<std::pair<std::string, BuildId>, ModuleId> module_ids_;
  std::unordered_map<FrameKey, ProfileFrameId, FrameHash> frame_ids_;
  StackIndex stack_index_;

  // Of the current run.
  std::vector<ModuleId> run_modules_;  // the profile's id by the run's; none: not seen yet
  uint32_t jit_codes_before_ = 0;      // of earlier runs
  std::vector<std::pair<ProfileFrameId, Frame>> unnamed_;
  // The last sample's stack, root first, up to where frames are left out of it: the next one of a thread
  // mostly shares all but its leaf.
  std::vector<Step> previous_;
  StopReason previous_stop_ = StopReason::kReachedRoot;
};

}  // namespace jitprof
