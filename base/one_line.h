// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jitprof {

// A foreign text (names, paths, comms may be any bytes) as it may stand in a line of text or on a terminal:
// control characters become spaces, so that it can neither break the line nor steer the terminal.
std::string on_one_line(std::string_view text);

}  // namespace jitprof
