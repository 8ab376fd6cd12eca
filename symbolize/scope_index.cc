// SPDX-License-Identifier: Apache-2.0
#include "symbolize/scope_index.h"

#include <algorithm>

namespace jitprof {
namespace {

constexpr unsigned kMaxDepth = 512;

bool is_scope(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
      return true;
    default:
      return false;
  }
}

}  // namespace

ScopeIndex::ScopeIndex(Dwarf_Die unit) {
  DieWalk steps;
  walk(steps, unit, kNone, 0);
}

void ScopeIndex::walk(DieWalk& steps, Dwarf_Die parent, uint32_t parent_scope, unsigned depth) {
  if (depth > kMaxDepth) return;
  uint32_t open = kNone;  // the scope whose end the next sibling marks
  for (auto die = steps.child(parent); die.has_value(); die = steps.sibling(*die)) {
    if (open != kNone) scopes_[open].end = die->addr;
    open = kNone;
    if (!is_scope(dwarf_tag(&*die)) || dwarf_haschildren(&*die) != 1) continue;
    open = static_cast<uint32_t>(scopes_.size());
    scopes_.push_back({*die, nullptr, parent_scope});
    walk(steps, *die, open, depth + 1);
  }
}

bool ScopeIndex::holds(uint32_t scope, const Dwarf_Die& die) const {
  for (; scope != kNone; scope = scopes_[scope].parent) {
    if (scopes_[scope].end != nullptr) return die.addr < scopes_[scope].end;
  }
  return true;
}

std::optional<Dwarf_Die> ScopeIndex::enclosing(const Dwarf_Die& die) const {
  auto after = std::lower_bound(scopes_.begin(), scopes_.end(), die.addr,
                                [](const Scope& scope, const void* place) { return scope.die.addr < place; });
  if (after == scopes_.begin()) return std::nullopt;
  uint32_t scope = static_cast<uint32_t>(std::prev(after) - scopes_.begin());
  while (scope != kNone) {
    Dwarf_Die candidate = scopes_[scope].die;
    if (holds(scope, die) && dwarf_tag(&candidate) != DW_TAG_lexical_block) return candidate;
    scope = scopes_[scope].parent;
  }
  return std::nullopt;
}

}  // namespace jitprof
