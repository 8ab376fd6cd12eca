// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "symbolize/names.h"

namespace jitprof {

// One source-level frame at a physical frame's position.
struct SourceFrame {
  FunctionId function;
  StringId file;        // none when unknown
  uint32_t line = 0;    // 0 when unknown
  uint32_t column = 0;  // 0 when unknown
};

// What a physical frame's position means: innermost inlined function first, the function that was really
// called last; never empty. The first stands where the line table points, each other one at its callee's call
// site.
struct SymbolizedFrame {
  std::vector<SourceFrame> lines;
  uint64_t offset = 0;  // of the position inside the called function; 0 also when its start is unknown
};

}  // namespace jitprof
