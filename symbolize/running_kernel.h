// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/position.h"

namespace jitprof {

// The text of /proc/kallsyms if the kernel that runs here is the one that was recorded: of the same release,
// and with `symbol` ("_text") at the same place, which KASLR changes with every boot. Else empty. perf.data
// names neither kernel symbols nor their file.
std::string symbols_of_running_kernel(const std::string& release, std::string_view symbol, RuntimeAddr place);

}  // namespace jitprof
