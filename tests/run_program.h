// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jitprof::tests {

struct ProgramResult {
  int status = -1;  // exit status, or 128 + signal
  std::string out;
  std::string err;
};

// Runs a program (searched in PATH) to its end with empty standard input; kills it after `timeout_s`. Extra
// environment is "NAME=value" each.
ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& directory = "",
                          unsigned timeout_s = 120, const std::vector<std::string>& environment = {});

// Compiles sources below tests/programs (names relative to it) to `output`; fails the process on error.
void compile(const std::string& compiler, const std::vector<std::string>& flags,
             const std::vector<std::string>& sources, const std::string& output);

}  // namespace jitprof::tests
