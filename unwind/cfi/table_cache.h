// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "unwind/cfi/unwind_table.h"
#include "unwind/space/module.h"

namespace jitprof {

// The unwind tables of a report, each compiled when it is first asked for. Modules with one build-id share a
// table: the same file under two paths, or in many containers. All may be called by several threads at once.
class UnwindTables {
 public:
  UnwindTables() = default;
  UnwindTables(const UnwindTables&) = delete;
  UnwindTables& operator=(const UnwindTables&) = delete;

  // Lives as long as this. A module without an ELF file has an empty table. Takes a lock: a walk keeps what
  // it got.
  const UnwindTable& of(const Module& module) const;

  // CFI that could not be read.
  struct Unreadable {
    ModuleId module;
    uint64_t entries = 0;
  };
  // By module, one for each table; of tables that were asked for, once no thread waits for one any more.
  std::vector<Unreadable> unreadable() const;

 private:
  struct Entry {
    std::once_flag is_made;
    UnwindTable table;
  };
  // Stripped and whole files of one build-id differ in .debug_frame, so the size belongs to the key.
  using FileKey = std::pair<BuildId, uint64_t>;
  Entry& entry_of(const Module& module) const;

  mutable std::mutex mutex_;  // over the containers, not over what is in an entry
  mutable std::deque<Entry> entries_;
  mutable std::map<ModuleId, Entry*> by_module_;
  mutable std::map<FileKey, Entry*> by_file_;
};

}  // namespace jitprof
