// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/elf_file.h"

namespace jitprof {

// The code symbols of an ELF file, sorted once. Views the file's names. Of several names for one place one is
// kept, the same whatever the table's order: a function over an untyped label, one with a size over one
// without, global over weak over local, no leading underscore over one, then the lesser text.
class SymbolTable {
 public:
  struct Symbol {
    ElfAddr start;
    ElfAddr end;  // a symbol without a size reaches to the next one in its section, else to the section's end
    std::string_view name;  // mangled, without @VERSION
  };

  SymbolTable() = default;
  explicit SymbolTable(const ElfFile& file) { add(file); }

  // Takes in the symbols of one more file: a stripped module's own dynamic symbols beside its debug file's.
  void add(const ElfFile& file);

  bool empty() const { return symbols_.empty(); }
  // The innermost symbol around `position`; nullptr when it lies in none.
  const Symbol* find(ElfAddr position) const;
  // The symbol that starts at `position`.
  const Symbol* find_start(ElfAddr position) const;

 private:
  struct Entry {
    Symbol symbol;
    bool has_size = false;
    uint8_t rank = 0;           // of its name among aliases, higher is better
    uint64_t furthest_end = 0;  // of the entries up to and including this one
  };
  std::vector<Entry> symbols_;  // one per start
};

}  // namespace jitprof
