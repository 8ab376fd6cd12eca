// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbolize/die.h"
#include "symbolize/flat_intervals.h"

namespace jitprof {

// Which compilation unit the code at a position came from. Made from the pc ranges of the unit DIEs, never
// from .debug_aranges: clang writes none, and one partly there hides units. Refers into the Dwarf.
class UnitTable {
 public:
  explicit UnitTable(Dwarf* dwarf);

  // The index of the unit; of several that claim a position (folded functions) the first in the file.
  std::optional<uint32_t> find(ElfAddr position);
  const Dwarf_Die& die(uint32_t unit) const { return units_[unit]; }
  size_t size() const { return units_.size(); }

 private:
  void add_units_without_ranges();
  void flatten();

  std::vector<Dwarf_Die> units_;
  std::vector<uint32_t> without_ranges_;
  std::vector<FlatIntervals::Interval> ranges_;
  FlatIntervals flat_;
};

}  // namespace jitprof
