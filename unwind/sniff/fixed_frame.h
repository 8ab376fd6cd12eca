// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/sniffer.h"

namespace jitprof {

// Leaves code of compilers that always make the same frame, without a frame pointer and without saying so:
// the CFA is at a fixed distance from rsp. Knows such code by what its compiler calls it; one row of a table
// for each.
class FixedFrameSniffer : public Sniffer {
 public:
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override;
};

}  // namespace jitprof
