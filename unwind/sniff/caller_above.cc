// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/caller_above.h"

namespace jitprof {

std::optional<UnwindInfo> caller_above(const PendingFrame& frame, RuntimeAddr cfa, const Registers& kept) {
  UnwindInfo info;
  info.id.cfa = cfa;
  Recovered return_pc = frame.read(cfa.minus(8));
  if (!return_pc.ok()) {
    if (return_pc.problem() != StopReason::kTruncated) return std::nullopt;
    info.stop = StopReason::kTruncated;
    return info;
  }
  info.caller = kept;
  info.caller.set(Register::rip, return_pc.value());
  info.caller.set(Register::rsp, cfa.value);
  return info;
}

}  // namespace jitprof
