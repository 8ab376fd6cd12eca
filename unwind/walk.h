// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "base/position.h"
#include "base/registers.h"
#include "profiler/event.h"
#include "unwind/cfi/rule_cache.h"
#include "unwind/space/process_table.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

// One physical frame as the raw walk passes it. References live during the visit.
struct WalkedFrame {
  RuntimeAddr pc;   // the exact pc: a return address for callers
  Frame frame;      // the same, moved back for callers and freed of the process
  RuntimeAddr cfa;  // sp of the caller at its call; {0} when nothing says (the last frame may lack it)
  const Registers& registers;  // at pc; what could not be recovered is unavailable
  const UnwindRule* rule;      // that leads to the caller; nullptr when there is none
};
using FrameVisitor = std::function<void(const WalkedFrame&)>;

// The raw walk of a sample's user part: by CFI over registers and stack bytes if the sample has them, else
// along the recorded chain. Calls `visit` leaf first for each frame and says why it ended. Nothing is kept
// but what `rules` caches.
StopReason walk(const Sample& sample, const Process& process, const ModuleTable& modules, RuleCache& rules,
                const FrameVisitor& visit);

// The whole stack of a sample: its kernel chain, then its walked user part. Reuses `stack`'s memory.
void unwind(const Sample& sample, const ProcessTable& processes, const Process& process, RuleCache& rules,
            UnwoundStack& stack);

}  // namespace jitprof
