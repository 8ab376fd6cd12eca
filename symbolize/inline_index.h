// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbolize/die.h"
#include "symbolize/flat_intervals.h"

namespace jitprof {

// The functions of one compilation unit and what was inlined into them, by position. Built by one walk over
// the unit's DIEs; a lookup is a binary search.
class InlineIndex {
 public:
  // A DW_TAG_inlined_subroutine, or a DW_TAG_subprogram that has code.
  struct Instance {
    static constexpr uint32_t kNone = 0xffffffff;
    Dwarf_Off die = 0;        // offset in .debug_info
    uint32_t parent = kNone;  // the instance this one was inlined into; none for a subprogram
    uint32_t first_range = 0;
    uint32_t range_count = 0;
  };

  explicit InlineIndex(Dwarf_Die unit);

  // The innermost instance around `position`; a child that reaches beyond its parent still counts.
  std::optional<uint32_t> find(ElfAddr position) const { return flat_.find(position); }
  const Instance& instance(uint32_t index) const { return instances_[index]; }
  size_t size() const { return instances_.size(); }

  // Where the instance begins, and where the one of its ranges does that holds `position`: a function whose
  // unlikely part was moved away has two.
  std::optional<ElfAddr> entry(uint32_t index) const;
  std::optional<ElfAddr> range_start(uint32_t index, ElfAddr position) const;

 private:
  // What all DIEs of one abbreviation share, so that the many without code cost one look-up.
  struct Abbreviation {
    bool has_code = false;
    bool is_declaration = false;
  };

  Abbreviation abbreviation_of(const Dwarf_Die& die);
  void walk(DieWalk& steps, Dwarf_Die parent, uint32_t instance, unsigned depth);
  uint32_t add(const Dwarf_Die& die, uint32_t parent, const std::vector<PcRange>& ranges, unsigned depth);

  std::unordered_map<const Dwarf_Abbrev*, Abbreviation> abbreviations_;  // only while building
  std::vector<Instance> instances_;
  std::vector<PcRange> ranges_;
  std::vector<FlatIntervals::Interval> intervals_;  // only while building
  FlatIntervals flat_;
};

}  // namespace jitprof
