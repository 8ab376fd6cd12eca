// SPDX-License-Identifier: Apache-2.0
#include "symbolize/die.h"

namespace jitprof {
namespace {

constexpr size_t kMaxOrigins = 8;
constexpr size_t kMaxRanges = 64 * 1024;
// lld marks discarded code in some sections by -1 and -2.
constexpr uint64_t kLastPlaces = UINT64_MAX - 15;

}  // namespace

std::string_view string_of(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  const char* text = dwarf_attr(&die, attribute, &found) != nullptr ? dwarf_formstring(&found) : nullptr;
  return text != nullptr ? std::string_view(text) : std::string_view();
}

std::optional<uint64_t> number_of(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0)
    return std::nullopt;
  return value;
}

std::optional<int64_t> signed_number_of(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Sword value = 0;
  if (dwarf_attr(&die, attribute, &found) == nullptr || dwarf_formsdata(&found, &value) != 0)
    return std::nullopt;
  return value;
}

std::optional<Dwarf_Die> reference_of(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Die target;
  if (dwarf_attr(&die, attribute, &found) == nullptr || dwarf_formref_die(&found, &target) == nullptr) {
    return std::nullopt;
  }
  return target;
}

bool flag_of(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  bool value = false;
  return dwarf_attr(&die, attribute, &found) != nullptr && dwarf_formflag(&found, &value) == 0 && value;
}

std::string_view linkage_name_of(Dwarf_Die die) {
  std::string_view name = string_of(die, DW_AT_linkage_name);
  return name.empty() ? string_of(die, DW_AT_MIPS_linkage_name) : name;
}

std::vector<Dwarf_Die> origins_of(Dwarf_Die die) {
  std::vector<Dwarf_Die> chain = {die};
  while (chain.size() < kMaxOrigins) {
    std::optional<Dwarf_Die> next = reference_of(chain.back(), DW_AT_abstract_origin);
    if (!next.has_value()) next = reference_of(chain.back(), DW_AT_specification);
    if (!next.has_value()) break;
    chain.push_back(*next);
  }
  return chain;
}

std::optional<Dwarf_Die> unit_of(Dwarf_Die die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return std::nullopt;
  return unit;
}

std::vector<PcRange> ranges_of(Dwarf_Die die) {
  std::vector<PcRange> ranges;
  Dwarf_Addr base = 0;
  ptrdiff_t offset = 0;
  while (ranges.size() < kMaxRanges) {
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    offset = dwarf_ranges(&die, offset, &base, &start, &end);
    if (offset <= 0) break;
    if (start != 0 && start < end && start < kLastPlaces) ranges.push_back({start, end});
  }
  return ranges;
}

std::optional<Dwarf_Die> first_child(Dwarf_Die die) { return DieWalk().child(die); }

std::optional<Dwarf_Die> DieWalk::child(Dwarf_Die die) {
  Dwarf_Die result;
  if (dwarf_child(&die, &result) != 0) return std::nullopt;
  return advance(result);
}

std::optional<Dwarf_Die> DieWalk::sibling(Dwarf_Die die) {
  Dwarf_Die result;
  if (dwarf_siblingof(&die, &result) != 0) return std::nullopt;
  return advance(result);
}

std::optional<Dwarf_Die> DieWalk::advance(const Dwarf_Die& die) {
  if (last_ != nullptr && die.addr <= last_) return std::nullopt;
  last_ = die.addr;
  return die;
}

}  // namespace jitprof
