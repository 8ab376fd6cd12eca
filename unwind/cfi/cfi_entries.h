// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/position.h"
#include "unwind/cfi/frame_section.h"

namespace jitprof {

// Instructions of a CFI program, by their place in the section's bytes.
struct CfiRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// A common information entry.
struct Cie {
  uint64_t offset = 0;  // of the entry in its section
  uint64_t code_alignment = 0;
  int64_t data_alignment = 0;
  uint8_t pointer_encoding = 0;  // DW_EH_PE_*, of its FDEs' pointers
  bool has_augmentation_size = false;
  bool is_signal_frame = false;
  CfiRange program;
};

// A frame description entry: the code it is about and its program.
struct Fde {
  ElfAddr start;
  uint64_t size = 0;
  CfiRange program;
  uint32_t cie = 0;  // index into CfiEntries::cies
};

// All entries of one frame section that can be read, in the section's order. Entries are found by their
// lengths, one after the other, so none overlaps another, and reading their programs costs time linear in the
// section's size.
struct CfiEntries {
  std::vector<Cie> cies;
  std::vector<Fde> fdes;    // of at least a byte
  uint64_t unreadable = 0;  // FDEs that are not among them
};

CfiEntries read_cfi_entries(const FrameSection& section);

}  // namespace jitprof
