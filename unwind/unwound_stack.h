// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

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
  kDepthLimit,     // the walk was stopped
  kUnmapped,       // the pc lies in no known mapping
  kRecordedChain,  // a chain that someone else walked ended here
};
inline constexpr unsigned kStopReasonCount = 8;

// "reached_root", "truncated", … as listings and --quality print it.
const char* name_of(StopReason reason);
// "[truncated]", … the frame that stands where the root would be; "" for kReachedRoot.
const char* bracket_of(StopReason reason);

// How a frame was found: by the sample itself, or by what unwound its callee.
enum class FrameOrigin : uint8_t { kTop, kCfi, kFramePointer, kRecordedChain };
const char* name_of(FrameOrigin origin);

// One activation, free of process and time. `position` is where to look the frame up: a caller's was moved
// back into its call instruction (pc - 1); a leaf's and an interrupted frame's is the exact pc.
struct Frame {
  ModuleId module;  // none: the pc lay in no mapping, and `position` is the RuntimeAddr
  ElfAddr position;
  FrameOrigin origin = FrameOrigin::kTop;
  bool in_kernel = false;
  auto operator<=>(const Frame&) const = default;
};

// Leaf first: kernel frames, then user frames.
struct UnwoundStack {
  std::vector<Frame> frames;
  StopReason stop = StopReason::kReachedRoot;
};

}  // namespace jitprof
