// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "unwind/cfi/unwind_rule.h"
#include "unwind/space/module.h"

namespace jitprof {

class CfiReader;

// The unwind rule of every (module, position) met so far. Owns the modules' CFI readers and each distinct
// rule once (libc has 300 for its 25,000 rows); a rule stays where it is. One cache per thread.
class RuleCache {
 public:
  RuleCache();
  ~RuleCache();
  RuleCache(const RuleCache&) = delete;
  RuleCache& operator=(const RuleCache&) = delete;

  // nullptr where no CFI covers the position.
  const UnwindRule* find(const Module& module, ElfAddr position);

 private:
  struct Key {
    ModuleId module;
    ElfAddr position;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return (key.position.value ^ uint64_t{key.module.index} << 40) * 0x9e3779b97f4a7c15;
    }
  };
  const UnwindRule* read(const Module& module, ElfAddr position);

  std::vector<std::unique_ptr<CfiReader>> readers_;  // by module id
  std::set<UnwindRule> distinct_;
  std::unordered_map<Key, const UnwindRule*, KeyHash> rules_;  // nullptr: no CFI there
};

}  // namespace jitprof
