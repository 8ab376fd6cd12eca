// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jitprof {

// One thing recording depends on, as this machine has it for us now.
struct Capability {
  std::string name;   // "hardware cycles", "kernel.perf_event_paranoid"
  std::string state;  // "works", "2: own processes only"
  bool is_ok = true;  // nothing to do
  std::string fix;    // what to run or change; empty when is_ok
};

// Finds out by trying where that is possible, else by reading /proc. Changes nothing.
std::vector<Capability> examine_machine();

}  // namespace jitprof
