// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/caller_above.h"

namespace jitprof {

std::optional<UnwindInfo> caller_above(RuntimeAddr cfa, const Recovered& return_pc, const Registers& kept) {
  UnwindInfo info;
  info.id.cfa = cfa;
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
