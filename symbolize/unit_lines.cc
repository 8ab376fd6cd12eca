// SPDX-License-Identifier: Apache-2.0
#include "symbolize/unit_lines.h"

namespace jitprof {

UnitLines::Entry& UnitLines::entry(const Dwarf_Die& unit) {
  auto [place, is_new] = entries_.try_emplace(unit.addr);
  if (!is_new) return place->second;
  Dwarf_Die readable = unit;
  Dwarf_Attribute program;
  Dwarf_Word offset = 0;
  // A unit of dwz's alternate file has its line program in that file.
  if (dwarf_cu_getdwarf(unit.cu) == dwarf_ && dwarf_attr(&readable, DW_AT_stmt_list, &program) != nullptr &&
      dwarf_formudata(&program, &offset) == 0) {
    place->second.table = LineTable(sections_, offset, string_of(unit, DW_AT_comp_dir));
  }
  return place->second;
}

StringId UnitLines::file(const Dwarf_Die& die, uint64_t number) {
  std::optional<Dwarf_Die> unit = unit_of(die);
  if (!unit.has_value()) return {};
  Entry& lines = entry(*unit);
  auto [place, is_new] = lines.files.try_emplace(number);
  if (is_new) {
    std::string path = lines.table.file(number);
    if (!path.empty()) place->second = names_.intern(path);
  }
  return place->second;
}

}  // namespace jitprof
