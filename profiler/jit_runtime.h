// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jitprof {

// How a runtime is told to publish the code it compiles.
struct JitSetup {
  std::vector<std::string> environment;  // "NODE_OPTIONS=--perf-prof", to be set for the command
  // Files that are written only because of it, and are ours to remove.
  bool adds_perf_maps = false;
  bool adds_jitdumps = false;
  std::string note;  // one line that says what is done; "" when nothing is
};

// Of the runtime that a command starts, whether by itself, by "#!" or by its name: what it must be told, as
// far as this very program knows the options. Runs the runtime once to ask it. nullopt: no such runtime, or
// it cannot be asked.
std::optional<JitSetup> jit_setup_of(const std::vector<std::string>& command);

// A line about a running process whose runtime was not told to publish its code: which option was missing. ""
// when it was, or when there is no such runtime.
std::string describe_missing_jit_setup(uint32_t pid);

}  // namespace jitprof
