// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/build_id.h"
#include "base/ids.h"
#include "symbolize/frame_class.h"
#include "symbolize/names.h"
#include "symbolize/symbolized_frame.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

using ProfileFrameId = Id<struct ProfileFrameTag>;
using StackId = Id<struct StackTag>;
using ProfileThreadId = Id<struct ProfileThreadTag>;

// One distinct physical frame of the profile, or a bracket frame: it says why a stack has no root, or how
// many frames were left out in its middle.
struct ProfileFrame {
  enum class Kind : uint8_t { kNative, kJit, kKernel, kBracket };
  Kind kind = Kind::kNative;
  FrameClass frame_class = FrameClass::kApplication;
  ModuleId module;   // index into Profile::modules; none for bracket frames and unmapped positions
  ElfAddr position;  // moved back into the call for callers
  std::vector<SourceFrame> lines;              // innermost first; the last one is the physical function
  uint64_t offset = 0;                         // inside the physical function
  StopReason stop = StopReason::kReachedRoot;  // of a bracket frame at the root: why there is none
  uint64_t elided = 0;                         // of a bracket frame in the middle: the frames left out
};

// Stacks are a tree: a node is a frame called by the parent's frame. A stack is named by its leaf's node.
struct StackNode {
  StackId caller;  // a smaller id than the node's own; none: this is the root
  ProfileFrameId frame;

  uint64_t key() const { return static_cast<uint64_t>(caller.index) << 32 | frame.index; }
};

// One sample.
struct ProfileRow {
  StackId stack;
  ProfileThreadId thread;
  uint64_t time_ns = 0;
  uint64_t weight = 0;  // the sample's period
  uint32_t cpu = 0;
  uint16_t event = 0;
  uint16_t run = 0;
};
static_assert(sizeof(ProfileRow) <= 40);

struct ProfileThread {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t process_start_ns = 0;
  std::string comm;
};

// An executable PT_LOAD of a module's file.
struct TextSegment {
  ElfAddr start;
  uint64_t size = 0;
  FileOffset offset;
};

// What the profile keeps of a module.
struct ProfileModule {
  std::string path;
  BuildId build_id;
  Module::Problem problem = Module::Problem::kNone;  // of an earlier run, if any had one
  bool has_functions = false;                        // some frame of it got a real name
  bool has_lines = false;
  bool is_fixed = false;          // ET_EXEC: mapped where it is linked
  std::vector<TextSegment> text;  // in order of start; empty when the file was not seen
};

// A column of values: with `by_period` the sum of sample periods of one event, else the number of its
// samples.
struct ValueType {
  std::string name;  // "samples", "cpu", "cycles.samples", "cycles"
  std::string unit;  // "count" or "nanoseconds"
  uint16_t event = 0;
  bool by_period = false;
};

// How the frames of all samples were found; sums over all runs, whatever a view shows.
struct UnwindingCounts {
  uint64_t top = 0;                        // where the samples were taken
  uint64_t recorded_chain = 0;             // callers in chains that the kernel walked
  std::array<uint64_t, 256> by_sniffer{};  // callers, by the SnifferId that found them
  // Callers kept although the code before their return address is no call, by module.
  std::map<ModuleId, uint64_t> following_no_call;
};

// The whole of what was recorded, frames named: every sample is one row, so every view of it sums to what was
// recorded. Owns all it refers to.
struct Profile {
  std::string command;                 // as typed, joined by spaces
  uint64_t start_wall_ns = 0;          // 0 when unknown
  uint64_t duration_ns = 0;            // from the first to the last event
  uint64_t sample_period = 0;          // of the first event: ns for clocks, else counts; 0 when unknown
  uint64_t stack_size = 0;             // stack bytes asked per sample, the least of all runs; 0: no stacks
  std::vector<ValueType> value_types;  // two per event, samples first, in order of events
  std::vector<ProfileModule> modules;
  std::vector<ProfileThread> threads;
  std::vector<ProfileFrame> frames;
  std::vector<StackNode> stacks;
  std::vector<ProfileRow> rows;  // in order of time within a run
  Names names;
  uint64_t lost = 0;                       // records the kernel dropped
  std::vector<std::string> sniffer_names;  // by SnifferId
  UnwindingCounts unwinding;
  std::map<std::string, uint64_t> shortfalls;  // named, for the footer
};

}  // namespace jitprof
