// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/unwind/walk_sample.h"

namespace jitprof::tests {

// Names frames by the function symbols of their modules; sorts a module's symbols when it is first asked.
class FunctionSymbols {
 public:
  explicit FunctionSymbols(const ModuleTable& modules) : modules_(modules) {}

  // The sized symbol that the frame's position lies in, without version; "?" when none does.
  std::string name_of(const Frame& frame);
  // The names of the frames that have one, leaf first, joined by ";".
  std::string names_of(const KeptWalk& walk);

 private:
  const ModuleTable& modules_;
  std::map<uint32_t, std::vector<ElfSymbol>> sorted_;
};

}  // namespace jitprof::tests
