// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "symbolize/die_names.h"
#include "symbolize/names.h"
#include "symbolize/symbol_table.h"
#include "symbolize/unit_lines.h"

namespace jitprof {

// The function a symbol table knows by `symbol`: demangled, without version and clone suffix.
Function function_of_symbol(std::string_view symbol, Names& names);

// Names the functions of one Dwarf: its linkage name demangled, else the mangled symbol at its entry (only
// where the DIE has no scope to build from: -g1, -gmlt), else its name qualified by the DIEs around it. An
// inlined instance has no symbol, so wherever the DIE can be named, the called function is named by the DIE
// too, and both are one function. Caches.
class FunctionNamer {
 public:
  FunctionNamer(UnitLines& lines, const SymbolTable& symbols, Names& names)
      : lines_(lines), symbols_(symbols), names_(names) {}

  // Of a DW_TAG_inlined_subroutine; "<inlined>" when it has no name.
  FunctionId inlined(const Dwarf_Die& instance);
  // Of a DW_TAG_subprogram with code; none when neither it nor the symbol table has a name.
  FunctionId called(const Dwarf_Die& function, std::optional<ElfAddr> entry);

 private:
  Function from_dies(const std::vector<Dwarf_Die>& origins);
  bool symbol_knows_more(const SymbolTable::Symbol& symbol, const std::vector<Dwarf_Die>& origins);
  void add_declaration(const std::vector<Dwarf_Die>& origins, Function& function);

  UnitLines& lines_;
  const SymbolTable& symbols_;
  Names& names_;
  DieNames die_names_;
  std::unordered_map<const void*, FunctionId> known_;  // by DIE
};

}  // namespace jitprof
