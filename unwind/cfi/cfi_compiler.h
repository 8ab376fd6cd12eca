// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/position.h"
#include "unwind/cfi/frame_section.h"
#include "unwind/cfi/row_list.h"
#include "unwind/cfi/rule_pool.h"

namespace jitprof {

// All CFI of one module, interpreted.
struct CompiledCfi {
  ElfAddr lowest;  // what the rows' starts count from
  RowList rows;    // the last is a gap
  RulePool rules;
  uint64_t unreadable = 0;  // FDEs that are not, or only in part, among the rows
};

// .debug_frame sections speak only where those of .eh_frame have nothing to say. Time and memory are linear
// in the sections' sizes, but for a logarithm, whatever the bytes are.
CompiledCfi compile_cfi(std::span<const FrameSection> sections);

}  // namespace jitprof
