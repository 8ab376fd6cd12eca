// SPDX-License-Identifier: Apache-2.0
#include "unwind/space/address_space.h"

#include <iterator>

namespace jitprof {

void AddressSpace::map(const Mapping& mapping) {
  // An end before the start is a recording's nonsense size that wrapped around.
  if (mapping.end <= mapping.start) return;
  ++changes_;
  auto next = mappings_.lower_bound(mapping.start);
  if (next != mappings_.begin()) {
    Mapping& before = std::prev(next)->second;
    if (before.end > mapping.end) {
      Mapping right = before;
      right.start = mapping.end;
      mappings_.emplace(right.start, right);
    }
    if (before.end > mapping.start) before.end = mapping.start;
  }
  while (next != mappings_.end() && next->first < mapping.end) {
    if (next->second.end > mapping.end) {
      Mapping right = next->second;
      right.start = mapping.end;
      mappings_.emplace(right.start, right);
    }
    next = mappings_.erase(next);
  }
  mappings_.insert_or_assign(mapping.start, mapping);
}

void AddressSpace::clear() {
  mappings_.clear();
  ++changes_;
}

const Mapping* AddressSpace::find(RuntimeAddr position) const {
  auto next = mappings_.upper_bound(position);
  if (next == mappings_.begin()) return nullptr;
  const Mapping& candidate = std::prev(next)->second;
  return position < candidate.end ? &candidate : nullptr;
}

}  // namespace jitprof
