// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unwind/shadow_stack.h"
#include "tests/unwind/stopped_program.h"

namespace jitprof::tests {

// A program run from its first breakpoint to the next by single instructions: before each of them its stack
// is walked, and the walk is compared with the shadow stack.
class SteppedScenario {
 public:
  explicit SteppedScenario(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment = {});

  // A line for each function at whose instructions a walk was wrong: where first, and what was wrong.
  std::string faults() const;
  // The places where the program stood in code without CFI and the walk said so and listed nothing more.
  std::string without_cfi() const;
  // Whether some instruction was in a function of that name, or of a longer one; code without a symbol has
  // the name of its module.
  bool stepped_in(std::string_view name) const;
  // The walk where stepping began, and its functions.
  const KeptWalk& first_walk() const { return first_; }
  std::string first_functions() { return stopped_.names_of(first_); }

 private:
  void check(const ShadowStack& shadow);

  StoppedProgram stopped_;
  KeptWalk first_;
  std::map<std::string, std::string> faults_;
  std::set<std::string> without_cfi_;
  std::set<std::string> stepped_;
};

}  // namespace jitprof::tests
