// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/table_cache.h"

#include <set>

#include "unwind/cfi/jit_cfi.h"

namespace jitprof {

const UnwindTable& UnwindTables::of(const Module& module) const {
  Entry& entry = entry_of(module);
  std::call_once(entry.is_made, [&] {
    if (module.elf) {
      entry.table = UnwindTable::compile(*module.elf);
    } else if (module.jit != nullptr) {
      entry.table = compile_jit_cfi(*module.jit);
    }
  });
  return entry.table;
}

UnwindTables::Entry& UnwindTables::entry_of(const Module& module) const {
  std::lock_guard lock(mutex_);
  auto [place, is_new] = by_module_.try_emplace(module.id, nullptr);
  if (!is_new) return *place->second;
  Entry** shared = nullptr;
  if (module.elf && !module.build_id.empty()) {
    shared = &by_file_[{module.build_id, module.elf->image().size()}];
  }
  bool is_known = shared != nullptr && *shared != nullptr;
  place->second = is_known ? *shared : &entries_.emplace_back();
  if (shared != nullptr) *shared = place->second;
  return *place->second;
}

std::vector<UnwindTables::Unreadable> UnwindTables::unreadable() const {
  std::lock_guard lock(mutex_);
  std::vector<Unreadable> found;
  std::set<const Entry*> seen;
  for (const auto& [module, entry] : by_module_) {
    if (!seen.insert(entry).second || entry->table.unreadable() == 0) continue;
    found.push_back({module, entry->table.unreadable()});
  }
  return found;
}

}  // namespace jitprof
