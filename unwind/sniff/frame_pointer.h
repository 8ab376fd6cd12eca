// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/known_layouts.h"
#include "unwind/sniff/sniffer.h"

namespace jitprof {

// Takes rbp for a frame pointer where nothing else knows the code: [rbp] holds the caller's rbp, [rbp + 8]
// the return address. A guess, so everything about it must fit: rbp is aligned, above the frame's sp and on
// the recorded stack, and what it leads to can be a return address.
//
// Where the function's code says that rbp is none, or still its caller's, there is no guess.
//
// A leaf that has pushed nothing yet, or never does (libjvm's copy loops, PLT entries that linkers write no
// CFI for), would lose its caller that way: where its own code is known, or there can be none (a call through
// a null pointer), and its rsp points behind a call, that is where it returns to, and rbp is its caller's. So
// would code made at run time of which a perf map
// gives the bounds alone, at its first two instructions and its last.
class FramePointerSniffer : public Sniffer {
 public:
  explicit FramePointerSniffer(KnownLayouts& layouts) : layouts_(layouts) {}
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override;

 private:
  bool may_guess(const PendingFrame& frame) const;

  KnownLayouts& layouts_;
};

// Where rbp is the frame pointer for sure, or may be: the same, as far as everything about it fits.
std::optional<UnwindInfo> leave_by_frame_pointer(const PendingFrame& frame);

}  // namespace jitprof
