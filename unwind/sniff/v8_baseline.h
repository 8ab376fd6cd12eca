// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/sniffer.h"

namespace jitprof {

// Code of V8's baseline compiler (Sparkplug), "JS:^…". It has no CFI, and its frame is made by a builtin that
// it calls first (BaselineOutOfLinePrologue), so its own instructions say nothing of it: behind that call rbp
// is the frame pointer. Up to there the frame is as at the entry, which whoever decodes the code finds out.
class V8BaselineSniffer : public Sniffer {
 public:
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override;
};

}  // namespace jitprof
