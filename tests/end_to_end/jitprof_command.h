// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/run_program.h"

namespace jitprof::tests {

// Runs the jitprof that was just built.
ProgramResult jitprof(const std::vector<std::string>& arguments, const std::string& directory = "");

// Runs jitprof and fails the test with its message when it does not end with 0; gives standard output.
std::string jitprof_output(const std::vector<std::string>& arguments);

// The lines of folded output: frames root first, and the value.
struct FoldedStack {
  std::vector<std::string> frames;
  uint64_t value = 0;
};
std::vector<FoldedStack> parse_folded(const std::string& text);
std::vector<FoldedStack> folded(const std::string& recording, const std::vector<std::string>& options = {});

uint64_t total(const std::vector<FoldedStack>& stacks);

// The number behind "samples: " in `jitprof info`.
uint64_t recorded_samples(const std::string& recording);

std::vector<std::string> split(const std::string& text, char separator);

}  // namespace jitprof::tests
