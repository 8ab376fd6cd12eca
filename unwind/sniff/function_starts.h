// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/position.h"
#include "unwind/space/module.h"

namespace jitprof {

// The code of one function, from its first instruction to its end.
struct FunctionCode {
  ElfAddr start;
  Bytes bytes;
  std::string_view name;
  bool has_end = true;  // else it was cut where the next one starts
};

// Where functions start, for code that nothing else is known of: by the symbol tables of the module's own
// file (never a debug file), or as a JIT compiler said. A module's table is made when it is first asked for.
// May be called by several threads at once.
class FunctionStarts {
 public:
  FunctionStarts() = default;
  FunctionStarts(const FunctionStarts&) = delete;
  FunctionStarts& operator=(const FunctionStarts&) = delete;

  // nullopt where no function is known, and in parts of one that were moved away from its start ("f.cold").
  // Views the module.
  std::optional<FunctionCode> of(const Module& module, ElfAddr position) const;

 private:
  struct Function {
    ElfAddr start;
    uint64_t size = 0;  // 0: up to the next one
    std::string_view name;
  };
  struct Entry {
    std::once_flag is_made;
    std::vector<Function> functions;  // by start, one for each
  };
  static std::vector<Function> functions_of(const Module& module);
  Entry& entry_of(const Module& module) const;

  mutable std::mutex mutex_;  // over the containers, not over what is in an entry
  mutable std::deque<Entry> entries_;
  mutable std::map<ModuleId, Entry*> by_module_;
};

}  // namespace jitprof
