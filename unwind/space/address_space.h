// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "base/position.h"
#include "unwind/space/module.h"

namespace jitprof {

// A range of one process that holds code of one module.
struct Mapping {
  RuntimeAddr start;
  RuntimeAddr end;
  ModuleId module;
  Bias bias;
};

// What one process has mapped executable now. Events come in order of time, so it holds the present only.
class AddressSpace {
 public:
  // The newer mapping wins where it overlaps; what is left of an older one keeps its bias.
  void map(const Mapping& mapping);
  void clear();
  const Mapping* find(RuntimeAddr position) const;
  const std::map<RuntimeAddr, Mapping>& mappings() const { return mappings_; }
  // How often it changed: what was found out about a space holds while this stays the same.
  uint32_t changes() const { return changes_; }

 private:
  std::map<RuntimeAddr, Mapping> mappings_;  // by start; never overlapping
  uint32_t changes_ = 0;
};

}  // namespace jitprof
