// SPDX-License-Identifier: Apache-2.0
#include "symbolize/unit_table.h"

namespace jitprof {
namespace {

constexpr size_t kMaxUnits = 1 << 20;

// The ranges of the functions that stand directly in the unit or in its namespaces.
void add_function_ranges(DieWalk& walk, Dwarf_Die parent, uint32_t unit, unsigned depth,
                         std::vector<FlatIntervals::Interval>& ranges) {
  if (depth > 64) return;
  for (auto die = walk.child(parent); die.has_value(); die = walk.sibling(*die)) {
    int tag = dwarf_tag(&*die);
    if (tag == DW_TAG_namespace || tag == DW_TAG_module) {
      add_function_ranges(walk, *die, unit, depth + 1, ranges);
    } else if (tag == DW_TAG_subprogram) {
      for (PcRange range : ranges_of(*die)) ranges.push_back({range.start, range.end, ~unit, unit});
    }
  }
}

}  // namespace

UnitTable::UnitTable(Dwarf* dwarf) {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  uint8_t type = 0;
  while (units_.size() < kMaxUnits &&
         dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
    if (type == DW_UT_type || type == DW_UT_split_type) continue;
    int tag = dwarf_tag(&die);
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
    uint32_t index = static_cast<uint32_t>(units_.size());
    units_.push_back(die);
    std::vector<PcRange> ranges = ranges_of(die);
    if (ranges.empty()) without_ranges_.push_back(index);
    for (PcRange range : ranges) ranges_.push_back({range.start, range.end, ~index, index});
  }
  flatten();
}

std::optional<uint32_t> UnitTable::find(ElfAddr position) {
  std::optional<uint32_t> found = flat_.find(position);
  if (found.has_value() || without_ranges_.empty()) return found;
  // Most such units hold types only (link-time optimisation), so they are read once a position needs them.
  add_units_without_ranges();
  return flat_.find(position);
}

void UnitTable::add_units_without_ranges() {
  for (uint32_t unit : without_ranges_) {
    DieWalk walk;
    add_function_ranges(walk, units_[unit], unit, 0, ranges_);
  }
  without_ranges_.clear();
  flatten();
}

void UnitTable::flatten() { flat_ = FlatIntervals(ranges_); }

}  // namespace jitprof
