// SPDX-License-Identifier: Apache-2.0

// Any bytes as a perf map beside a jitdump: must end, within bounded memory, without a crash. The first byte
// chooses where the map is cut into two pieces.

#include <algorithm>
#include <span>
#include <vector>

#include "base/result.h"
#include "unwind/jit/jitdump_coverage.h"
#include "unwind/jit/perf_map.h"

namespace jitprof {
namespace {

// Loads at 0x1000, 0x1100, …, one of which is moved.
std::vector<JitChange> some_jitdump() {
  std::vector<JitChange> changes;
  for (uint64_t i = 0; i < 16; ++i)
    changes.push_back({.time_ns = 100 * i,
                       .kind = JitChange::Kind::kLoad,
                       .start = {0x1000 + 0x100 * i},
                       .size = 0x80,
                       .moved_to = {}});
  changes.push_back({.time_ns = 1600,
                     .kind = JitChange::Kind::kMove,
                     .start = {0x1100},
                     .size = 0x80,
                     .moved_to = {0x3000}});
  return changes;
}

}  // namespace
}  // namespace jitprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jitprof;
  if (size == 0) return 0;
  Bytes text = std::as_bytes(std::span(data + 1, size - 1));
  size_t cut = std::min<size_t>(text.size(), data[0]);
  PerfMapReader reader;
  reader.add(text.first(cut), {0, 1000});
  reader.add(text.subspan(cut), {1000, 2000});
  reader.finish();
  size_t kept = 0;
  for (const PerfMapEntry& line : reader.entries()) {
    JP_CHECK(line.size > 0 && line.start.value + line.size > line.start.value && !line.name.empty());
    kept += line.name.size() + 4;
  }
  JP_CHECK(kept <= text.size());
  std::vector<MapLine> verdicts = judge_map_lines(reader.entries(), some_jitdump());
  JP_CHECK(verdicts.size() == reader.entries().size());
  return 0;
}
