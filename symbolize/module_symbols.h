// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolize/debug_file.h"
#include "symbolize/dwarf_file.h"
#include "symbolize/function_namer.h"
#include "symbolize/inline_index.h"
#include "symbolize/symbol_table.h"
#include "symbolize/symbolized_frame.h"
#include "symbolize/unit_table.h"

namespace jitprof {

// All that is known about the code of one module: its debug information, found and opened at once, whose
// units are indexed when a position first falls into them, and its symbol tables. One thread.
class ModuleSymbols {
 public:
  ModuleSymbols(const Module& module, const std::vector<std::string>& debug_directories, Names& names);

  // Never fails: what nothing knows is "module+0xoff".
  SymbolizedFrame symbolize(ElfAddr position);

  // Why names may be missing.
  bool has_symbols() const { return !symbols_.empty() || units_.has_value(); }
  bool has_unreadable_debug_sections() const { return has_unreadable_debug_sections_; }
  unsigned refused_debug_files() const { return refused_debug_files_; }

 private:
  SourceFrame source_of(const Dwarf_Die& unit, ElfAddr position);
  SourceFrame call_site_of(Dwarf_Die instance);
  bool add_instances(uint32_t unit, ElfAddr position, SymbolizedFrame& frame);
  void add_symbol(ElfAddr position, SourceFrame source, SymbolizedFrame& frame);
  const InlineIndex& inlines_of(uint32_t unit);

  // In the order of their dependence: each may refer into those above.
  const Module& module_;
  Names& names_;
  std::optional<ElfFile> debug_file_;
  SymbolTable symbols_;
  std::unique_ptr<DwarfFile> dwarf_;
  std::optional<UnitTable> units_;
  std::optional<UnitLines> lines_;
  std::optional<FunctionNamer> namer_;
  std::vector<std::unique_ptr<InlineIndex>> inlines_;  // by unit; null until touched
  bool has_unreadable_debug_sections_ = false;
  unsigned refused_debug_files_ = 0;
};

}  // namespace jitprof
