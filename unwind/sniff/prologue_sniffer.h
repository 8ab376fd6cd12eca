// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/known_layouts.h"
#include "unwind/sniff/sniffer.h"

namespace jitprof {

// Leaves functions that have neither CFI nor, perhaps, a frame pointer by what their code does from their
// first byte on: hand-written assembly with a symbol, and code made at run time whose bytes are known. Seen
// in numba: six pushes, locals in the red zone, and rbp in use for something else.
//
// It knows what it says, where frame-pointer guesses, and declines what it cannot follow; but that the
// function was entered where its symbol says is not certain, so that where it returns to must be a place that
// can be returned to.
class PrologueSniffer : public Sniffer {
 public:
  // `layouts` must outlive it.
  explicit PrologueSniffer(KnownLayouts& layouts) : layouts_(layouts) {}
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override;

 private:
  KnownLayouts& layouts_;
};

// The caller of a frame with that layout; nullopt where what should be its return address cannot be one.
std::optional<UnwindInfo> leave_by(const FrameLayout& layout, const PendingFrame& frame);

}  // namespace jitprof
