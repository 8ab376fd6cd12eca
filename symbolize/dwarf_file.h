// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstddef>
#include <vector>

#include "base/elf_file.h"
#include "symbolize/line_table.h"

namespace jitprof {

// libdw's view of one ELF file, which must outlive it. One per module and thread: libdw 0.188 on Debian is
// built without thread safety, and two threads on one Dwarf silently lose DIEs.
class DwarfFile {
 public:
  explicit DwarfFile(const ElfFile& file);
  ~DwarfFile();
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;

  // nullptr when the file has no DWARF that libdw can read.
  Dwarf* dwarf() const { return dwarf_; }
  LineSections line_sections() const;

 private:
  std::vector<std::byte> inflated_;  // an image of the needed sections, where the file has them compressed
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
};

}  // namespace jitprof
