// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include "base/interner.h"
#include "symbolize/die.h"
#include "symbolize/line_table.h"
#include "symbolize/names.h"

namespace jitprof {

// The line tables of one Dwarf's units, each read when first asked for. A file number means nothing without
// the unit whose DIE holds it: an inlined function's declaration may stand in another unit than the call.
class UnitLines {
 public:
  UnitLines(Dwarf* dwarf, const LineSections& sections, Names& names)
      : dwarf_(dwarf), sections_(sections), names_(names) {}

  LineTable& of_unit(const Dwarf_Die& unit) { return entry(unit).table; }
  // The file with that number in the unit that holds `die`; none when there is no such file.
  StringId file(const Dwarf_Die& die, uint64_t number);

 private:
  struct Entry {
    LineTable table;
    std::unordered_map<uint64_t, StringId> files;
  };
  Entry& entry(const Dwarf_Die& unit);

  Dwarf* dwarf_;
  LineSections sections_;
  Names& names_;
  std::unordered_map<const void*, Entry> entries_;  // by unit DIE
};

}  // namespace jitprof
