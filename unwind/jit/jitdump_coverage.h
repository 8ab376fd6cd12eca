// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "unwind/jit/jit_code.h"
#include "unwind/jit/perf_map.h"

namespace jitprof {

// What a line of a perf map is worth beside the jitdumps of its process.
enum class MapLine : uint8_t {
  kNews,       // no jitdump knows of code there
  kTold,       // a jitdump has it, with its time and more besides
  kBehindEnd,  // written after the jitdumps had ended: it replaced what they say of the place
};

// Judges the lines of the perf maps of a process, by seen_ns, beside what its jitdumps said, by time. V8
// writes both, in the same order; killed, it loses the last 4096 bytes of the jitdump, not of the map. So
// lines behind the last one that both files have tell of code that the jitdump lost.
std::vector<MapLine> judge_map_lines(std::span<const PerfMapEntry> lines,
                                     std::span<const JitChange> jitdumps);

}  // namespace jitprof
