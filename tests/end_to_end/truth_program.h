// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/temp_dir.h"

namespace jitprof::tests {

// Compiles the truth program (tests/programs/truth) with "gcc" or "clang", -O2 -g and more flags, into the
// folder.
std::string build_truth(const std::string& compiler, const TempDir& folder,
                        const std::string& more_flags = "");

}  // namespace jitprof::tests
