// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/position.h"
#include "base/registers.h"
#include "unwind/sniff/pending_frame.h"

namespace jitprof {

// What tells one activation from another for as long as it lives: the CFA, which does not change between the
// function's first and last instruction, and the function's code; without code, the CFA alone.
struct FrameId {
  RuntimeAddr cfa;
  std::optional<RuntimeAddr> code;
  auto operator<=>(const FrameId&) const = default;
};

// A sniffer's answer: who the frame is and what its caller's registers were. rip and rsp are required; what
// is not given is unavailable in the caller.
struct UnwindInfo {
  FrameId id;
  Registers caller;
  bool caller_was_interrupted = false;  // its pc is exact, no return address
  // Why there is no caller to go on with: kReachedRoot, kTruncated. `caller` is not looked at then.
  std::optional<StopReason> stop;
};

// Knows the frames of one kind of code: GDB's unwinder contract. Immutable while a report is made, and asked
// by several threads at once.
class Sniffer {
 public:
  virtual ~Sniffer() = default;
  // nullopt: the frame is none of its kind.
  virtual std::optional<UnwindInfo> unwind(const PendingFrame& frame) const = 0;
};

}  // namespace jitprof
