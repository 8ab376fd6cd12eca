// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/sniffer.h"

namespace jitprof {

// The caller of a frame whose CFA is known, with its return address and what else is `kept`; that the stack
// is truncated where the copy ends before the return address; nullopt where that cannot be read.
std::optional<UnwindInfo> caller_above(RuntimeAddr cfa, const Recovered& return_pc, const Registers& kept);

}  // namespace jitprof
