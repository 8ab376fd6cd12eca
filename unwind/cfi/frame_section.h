// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "base/elf_file.h"
#include "base/position.h"

namespace jitprof {

// The bytes of one .eh_frame or .debug_frame and what its pointers are relative to.
struct FrameSection {
  Bytes bytes;
  ElfAddr start;  // of the bytes, for pc-relative pointers
  bool is_debug_frame = false;
  // The size is unknown: a zero length is the end. Elsewhere it is skipped, since a linker that puts crtend.o
  // before other objects leaves one in the middle.
  bool ends_at_zero = false;
  std::optional<ElfAddr> text_base, data_base;  // for DW_EH_PE_textrel and DW_EH_PE_datarel
};

// The frame sections of an ELF file, .eh_frame first. By section headers, which tell sizes (the type may also
// be SHT_X86_64_UNWIND); a file without them is read through PT_GNU_EH_FRAME, which says only where .eh_frame
// begins. The sorted table behind that header is not used: the linker leaves it out of static programs, and
// it may be wrong. Views the file.
class ElfFrameSections {
 public:
  explicit ElfFrameSections(const ElfFile& elf);
  const std::vector<FrameSection>& all() const { return sections_; }

 private:
  void add_eh_frames(const ElfFile& elf);
  void add_eh_frame_of_header(const ElfFile& elf);
  void add_debug_frame(const ElfFile& elf);

  std::vector<SectionBytes> contents_;  // keep what was inflated
  std::vector<FrameSection> sections_;
};

}  // namespace jitprof
