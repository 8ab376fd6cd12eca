// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elfutils/libdw.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/elf_file.h"
#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

// Reads the CFI rows of one ELF file through libdw: .eh_frame first, then .debug_frame of the same file where
// .eh_frame has nothing to say (code built with -fno-asynchronous-unwind-tables -g, Go). Debug files are
// never opened. `elf` must outlive it. One thread at a time: libdw keeps what it parsed.
class CfiReader {
 public:
  explicit CfiReader(const ElfFile& elf);

  // nullopt where no row covers the position or the row cannot be read.
  std::optional<UnwindRule> find(ElfAddr position);

 private:
  void open_eh_frame();
  void open_debug_frame();

  struct Close {
    void operator()(Elf* elf) const { elf_end(elf); }
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
    void operator()(Dwarf_CFI* cfi) const { dwarf_cfi_end(cfi); }
  };
  const ElfFile& elf_;
  // Each is closed before what it was made from.
  std::unique_ptr<Elf, Close> eh_elf_;
  std::unique_ptr<Dwarf_CFI, Close> eh_frame_;
  bool debug_frame_was_opened_ = false;
  std::vector<std::byte> debug_image_;
  std::unique_ptr<Elf, Close> debug_elf_;
  std::unique_ptr<Dwarf, Close> debug_dwarf_;
  Dwarf_CFI* debug_frame_ = nullptr;  // owned by debug_dwarf_
};

}  // namespace jitprof
