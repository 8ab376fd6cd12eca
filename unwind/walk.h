// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/function_ref.h"
#include "base/position.h"
#include "base/registers.h"
#include "profiler/event.h"
#include "unwind/place_cache.h"
#include "unwind/space/process_table.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

// What the raw walk knows of a physical frame beside the frame itself. Pointers live during the visit.
struct WalkedFrame {
  RuntimeAddr pc;   // the exact pc: a return address for callers
  RuntimeAddr cfa;  // sp of the caller at its call; {0} when nothing says (a root, the last frame)
  bool is_top = false;
  // With Follow::kAllRegisters only, else nullptr: the registers at pc, where what could not be recovered is
  // unavailable, and the CFI rule that leads to the caller, if CFI does.
  const Registers* registers = nullptr;
  const UnwindRule* rule = nullptr;
};
// The frame comes by value, in two registers: copied out of memory that was just written in pieces it would
// cost a third of the walk of a deep stack.
using FrameVisitor = FunctionRef<void(Frame frame, const WalkedFrame& walked)>;

enum class Follow : uint8_t { kWhatIsNeeded, kAllRegisters };

// The raw walk of a sample's user part: by CFI and sniffers over registers and stack bytes if the sample has
// them, else along the recorded chain. Calls `visit` leaf first for each frame and says why it ended.
// Allocates nothing once `places` is warm.
StopReason walk(const Sample& sample, const Process& process, PlaceCache& places, FrameVisitor visit,
                Follow follow = Follow::kWhatIsNeeded);

// The same of the whole stack: first the kernel chain, whose frames have no more than pc and frame.
StopReason walk_with_kernel(const Sample& sample, const ProcessTable& processes, const Process& process,
                            PlaceCache& places, FrameVisitor visit, Follow follow = Follow::kWhatIsNeeded);

// The whole stack of a sample; of more than `max_depth` frames both ends. Reuses `stack`'s memory.
void unwind(const Sample& sample, const ProcessTable& processes, const Process& process, PlaceCache& places,
            uint32_t max_depth, UnwoundStack& stack);

inline constexpr uint32_t kDefaultMaxDepth = 100'000;

}  // namespace jitprof
