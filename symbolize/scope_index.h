// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbolize/die.h"

namespace jitprof {

// What encloses what in one unit: DIEs have no way up. Built by one walk over namespaces, types, functions
// and blocks; made only for units some of whose functions have no linkage name (g++'s static functions).
class ScopeIndex {
 public:
  explicit ScopeIndex(Dwarf_Die unit);

  // The namespace, type or function that holds `die`, blocks skipped; nullopt at the unit's own level.
  std::optional<Dwarf_Die> enclosing(const Dwarf_Die& die) const;

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Scope {
    Dwarf_Die die;
    const void* end = nullptr;  // behind its last descendant; nullptr: where its parent ends
    uint32_t parent = kNone;
  };
  void walk(DieWalk& steps, Dwarf_Die parent, uint32_t parent_scope, unsigned depth);
  bool holds(uint32_t scope, const Dwarf_Die& die) const;

  std::vector<Scope> scopes_;  // in the order of the file
};

}  // namespace jitprof
