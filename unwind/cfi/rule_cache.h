// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "unwind/cfi/unwind_rule.h"
#include "unwind/space/module.h"

namespace jitprof {

class CfiReader;

// The unwind rule of every (module, position) met so far. Owns the modules' CFI readers and all rules; a rule
// stays where it is. One cache per thread.
class RuleCache {
 public:
  RuleCache();
  ~RuleCache();
  RuleCache(const RuleCache&) = delete;
  RuleCache& operator=(const RuleCache&) = delete;

  // nullptr where no CFI covers the position.
  const UnwindRule* find(const Module& module, ElfAddr position);

 private:
  std::vector<std::unique_ptr<CfiReader>> readers_;                  // by module id
  std::unordered_map<uint64_t, std::unique_ptr<UnwindRule>> rules_;  // by module id << 48 ^ position
};

}  // namespace jitprof
