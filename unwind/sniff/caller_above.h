// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/sniffer.h"

namespace jitprof {

// The caller of a frame whose CFA is known, with the return address below it and what else is `kept`; that
// the stack is truncated where the copy ends before it; nullopt where it cannot be read.
std::optional<UnwindInfo> caller_above(const PendingFrame& frame, RuntimeAddr cfa, const Registers& kept);

}  // namespace jitprof
