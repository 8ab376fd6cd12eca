// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace jitprof {

// What a program writes to its standard output, at most 1 MiB of it; its error output is thrown away. nullopt
// when it cannot be run, fails, or takes more than five seconds: it is ended then.
std::optional<std::string> output_of_program(const std::vector<std::string>& arguments);

}  // namespace jitprof
