// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace jitprof {

// Reading attributes of one DIE as it stands: nothing is inherited from its abstract origin or specification.
std::string_view string_of(Dwarf_Die die, unsigned attribute);  // "" when absent or unreadable
std::optional<uint64_t> number_of(Dwarf_Die die, unsigned attribute);
std::optional<int64_t> signed_number_of(Dwarf_Die die, unsigned attribute);
std::optional<Dwarf_Die> reference_of(Dwarf_Die die, unsigned attribute);
bool flag_of(Dwarf_Die die, unsigned attribute);

// DW_AT_linkage_name, or the name older producers give it.
std::string_view linkage_name_of(Dwarf_Die die);

// The DIE and what it inherits from, nearest first: along DW_AT_abstract_origin, then DW_AT_specification.
// They may stand in other units. Cut after a few steps, since a damaged file can refer in circles.
std::vector<Dwarf_Die> origins_of(Dwarf_Die die);

// The unit DIE above this one.
std::optional<Dwarf_Die> unit_of(Dwarf_Die die);

struct PcRange {
  uint64_t start = 0;
  uint64_t end = 0;
};
// The code a DIE covers, in the order of its list. Empty ranges and those of discarded code, which linkers
// move to 0 or to the very end, are left out. At most 64 Ki ranges of a DIE are read.
std::vector<PcRange> ranges_of(Dwarf_Die die);

std::optional<Dwarf_Die> first_child(Dwarf_Die die);

// Steps over sibling DIEs in the order of the file. A walk over a whole tree uses one DieWalk: it only ever
// moves forward, so that sibling references of a damaged file can neither loop nor visit a part twice.
class DieWalk {
 public:
  std::optional<Dwarf_Die> child(Dwarf_Die die);
  std::optional<Dwarf_Die> sibling(Dwarf_Die die);

 private:
  std::optional<Dwarf_Die> advance(const Dwarf_Die& die);
  const void* last_ = nullptr;
};

}  // namespace jitprof
