// SPDX-License-Identifier: Apache-2.0
#include "symbolize/inline_index.h"

namespace jitprof {
namespace {

// Deeper nesting, and more code ranges in a unit, than any compiler writes.
constexpr unsigned kMaxDepth = 512;
constexpr size_t kMaxRanges = 16u << 20;

}  // namespace

InlineIndex::InlineIndex(Dwarf_Die unit) {
  DieWalk steps;
  walk(steps, unit, Instance::kNone, 0);
  flat_ = FlatIntervals(std::move(intervals_));
  intervals_ = {};
  abbreviations_ = {};
}

// dwarf_tag() has been asked, so that the DIE knows its abbreviation.
InlineIndex::Abbreviation InlineIndex::abbreviation_of(const Dwarf_Die& die) {
  auto [place, is_new] = abbreviations_.try_emplace(die.abbrev);
  if (is_new) {
    unsigned name = 0;
    for (size_t i = 0; dwarf_getabbrevattr(die.abbrev, i, &name, nullptr, nullptr) == 0 && name != 0; ++i) {
      if (name == DW_AT_low_pc || name == DW_AT_ranges) place->second.has_code = true;
      if (name == DW_AT_declaration) place->second.is_declaration = true;
    }
  }
  return place->second;
}

// Recursion is bounded by kMaxDepth.
void InlineIndex::walk(DieWalk& steps, Dwarf_Die parent, uint32_t instance, unsigned depth) {
  if (depth > kMaxDepth) return;
  for (auto die = steps.child(parent); die.has_value(); die = steps.sibling(*die)) {
    uint32_t inner = instance;
    switch (dwarf_tag(&*die)) {
      case DW_TAG_subprogram: {
        Abbreviation abbreviation = abbreviation_of(*die);
        if (abbreviation.is_declaration) continue;
        std::vector<PcRange> ranges = abbreviation.has_code ? ranges_of(*die) : std::vector<PcRange>();
        inner = ranges.empty() ? Instance::kNone : add(*die, Instance::kNone, ranges, depth);
        break;
      }
      case DW_TAG_inlined_subroutine:
        // Only code says where it was inlined into.
        if (instance == Instance::kNone) continue;
        inner = add(*die, instance, abbreviation_of(*die).has_code ? ranges_of(*die) : std::vector<PcRange>(),
                    depth);
        break;
      // g++ puts the code of a lambda into its closure type, which may stand in an abstract function or a
      // class.
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type:
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_namespace:
      case DW_TAG_module:
        break;
      default:
        continue;
    }
    if (dwarf_haschildren(&*die) == 1) walk(steps, *die, inner, depth + 1);
  }
}

uint32_t InlineIndex::add(const Dwarf_Die& die, uint32_t parent, const std::vector<PcRange>& ranges,
                          unsigned depth) {
  uint32_t index = static_cast<uint32_t>(instances_.size());
  Dwarf_Die readable = die;
  Instance instance{dwarf_dieoffset(&readable), parent, static_cast<uint32_t>(ranges_.size()), 0};
  if (ranges_.size() + ranges.size() <= kMaxRanges) {
    instance.range_count = static_cast<uint32_t>(ranges.size());
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
    for (PcRange range : ranges) intervals_.push_back({range.start, range.end, depth, index});
  }
  instances_.push_back(instance);
  return index;
}

std::optional<ElfAddr> InlineIndex::entry(uint32_t index) const {
  const Instance& instance = instances_[index];
  if (instance.range_count == 0) return std::nullopt;
  return ElfAddr{ranges_[instance.first_range].start};
}

std::optional<ElfAddr> InlineIndex::range_start(uint32_t index, ElfAddr position) const {
  const Instance& instance = instances_[index];
  for (uint32_t i = 0; i < instance.range_count; ++i) {
    const PcRange& range = ranges_[instance.first_range + i];
    if (position.value >= range.start && position.value < range.end) return ElfAddr{range.start};
  }
  return std::nullopt;
}

}  // namespace jitprof
