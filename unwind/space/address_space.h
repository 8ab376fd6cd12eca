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
  void clear() { mappings_.clear(); }
  const Mapping* find(RuntimeAddr position) const;
  const std::map<RuntimeAddr, Mapping>& mappings() const { return mappings_; }

 private:
  std::map<RuntimeAddr, Mapping> mappings_;  // by start; never overlapping
};

}  // namespace jitprof
