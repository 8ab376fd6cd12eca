// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/position.h"
#include "unwind/space/module.h"

namespace jitprof {

// Why a stack has no further caller.
enum class StopReason : uint8_t {
  kReachedRoot,    // CFI marks the caller as undefined: the thread began here
  kTruncated,      // the recorded stack bytes ran out
  kNoUnwindInfo,   // known code, but nothing says how to leave it
  kUnreadable,     // memory needed lies outside the recorded stack, or a register needed is unavailable
  kNoProgress,     // the caller's CFA would not lie above this one's
  kDepthLimit,     // the walk was given up after a million frames
  kUnmapped,       // the pc lies in no known mapping
  kRecordedChain,  // a chain that someone else walked ended here
  kOtherStack,     // the caller's frame lies on another stack, which was not copied: a signal handler's on
                   // an alternate one, or one that code switched to by itself
};
inline constexpr unsigned kStopReasonCount = 9;

// "reached_root", "truncated", … as listings and --quality print it.
const char* name_of(StopReason reason);
// "[truncated]", … the frame that stands where the root would be; "" for kReachedRoot.
const char* bracket_of(StopReason reason);

using SnifferId = Id<struct SnifferTag>;

// How a frame was found: by the sample itself, in a chain someone else recorded, or by a sniffer that unwound
// its callee.
enum class FrameOrigin : uint8_t { kTop, kRecordedChain, kSniffed };

// One activation, free of process and time. `position` is where to look the frame up: a caller's was moved
// back into its call instruction (pc - 1); a leaf's and an interrupted frame's is the exact pc.
struct Frame {
  ModuleId module;  // none: the pc lay in no mapping, and `position` is the RuntimeAddr
  FrameOrigin origin = FrameOrigin::kTop;
  uint8_t sniffer = 0;  // kSniffed: the index of a SnifferId
  bool in_kernel = false;
  bool follows_no_call = false;  // a return address behind no call instruction: kept, but doubtful
  ElfAddr position;
  auto operator<=>(const Frame&) const = default;
};
static_assert(sizeof(Frame) == 16);

// Leaf first: kernel frames, then user frames.
struct UnwoundStack {
  std::vector<Frame> frames;
  StopReason stop = StopReason::kReachedRoot;
  // Frames left out in the middle to keep both ends of a very deep stack: so many between frames[at - 1] and
  // frames[at].
  struct Elided {
    uint64_t at = 0;
    uint64_t count = 0;
  };
  Elided elided;
};

// What is left out of a stack of `depth` frames to keep no more than `max_depth`, at least 2, in two parts of
// one size, or one more towards the leaf.
UnwoundStack::Elided elided_of(uint64_t depth, uint32_t max_depth);

}  // namespace jitprof
