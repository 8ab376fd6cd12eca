// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/frame_layout.h"
#include "unwind/sniff/function_starts.h"
#include "unwind/sniff/sniffer.h"

namespace jitprof {

// Leaves code that nothing describes by what its own instructions did since the function's start
// (frame_layout.h): hand-written assembly without CFI, the optimised code of numba. Asked before the frame
// pointer, which would drop the caller of a frameless function. Declines where no start is known, and where
// what the code says does not lead behind a call.
class PrologueSniffer : public Sniffer {
 public:
  // `starts` must outlive it.
  explicit PrologueSniffer(const FunctionStarts& starts) : starts_(starts) {}
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override;

 private:
  const FunctionStarts& starts_;
};

// The layout at the frame's pc.
std::optional<FrameLayout> layout_of(const PendingFrame& frame, const FunctionCode& function);
// The caller of a frame with that layout; nullopt where what should be its return address cannot be one.
std::optional<UnwindInfo> leave_by(const FrameLayout& layout, const PendingFrame& frame);

}  // namespace jitprof
