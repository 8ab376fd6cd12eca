// SPDX-License-Identifier: Apache-2.0
#include "unwind/space/address_space.h"

#include <iterator>

namespace jitprof {

void MappingLayer::unmap(RuntimeAddr start, RuntimeAddr end) {
  auto next = mappings_.lower_bound(start);
  auto keep_right = [&](const Mapping& cut) {
    if (cut.end <= end) return;
    Mapping right = cut;
    right.start = end;
    mappings_.emplace(right.start, right);
  };
  if (next != mappings_.begin()) {
    Mapping& before = std::prev(next)->second;
    keep_right(before);
    if (before.end > start) before.end = start;
  }
  while (next != mappings_.end() && next->first < end) {
    keep_right(next->second);
    next = mappings_.erase(next);
  }
}

void MappingLayer::map(const Mapping& mapping) {
  unmap(mapping.start, mapping.end);
  mappings_.insert_or_assign(mapping.start, mapping);
}

const Mapping* MappingLayer::find(RuntimeAddr position) const {
  auto next = mappings_.upper_bound(position);
  if (next == mappings_.begin()) return nullptr;
  const Mapping& candidate = std::prev(next)->second;
  return position < candidate.end ? &candidate : nullptr;
}

void AddressSpace::map(const Mapping& mapping) {
  // An end before the start is a recording's nonsense size that wrapped around.
  if (mapping.end <= mapping.start) return;
  ++changes_;
  files_.map(mapping);
  if (!mapping.may_hold_jit_code) loaded_.unmap(mapping.start, mapping.end);
}

void AddressSpace::load(const Mapping& code) {
  if (code.end <= code.start) return;
  ++changes_;
  loaded_.map(code);
}

void AddressSpace::unload(RuntimeAddr start, uint64_t size) {
  const Mapping* code = loaded_.find(start);
  RuntimeAddr end = start.plus(size);
  if (size == 0 && code != nullptr && code->start == start) end = code->end;
  if (end <= start) return;
  ++changes_;
  loaded_.unmap(start, end);
}

void AddressSpace::move(RuntimeAddr from, RuntimeAddr to) {
  const Mapping* code = loaded_.find(from);
  if (code == nullptr || code->start != from) return;
  Mapping moved = *code;
  uint64_t size = moved.end.distance_from(moved.start);
  unload(from, size);
  moved.start = to;
  moved.end = to.plus(size);
  moved.bias.value += to.value - from.value;
  load(moved);
}

void AddressSpace::clear() {
  files_.clear();
  loaded_.clear();
  ++changes_;
}

}  // namespace jitprof
