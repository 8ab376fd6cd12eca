// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "output/view.h"

namespace jitprof {

// What a reader of any output must know about what is missing in it, a line each, without newlines: lost
// records, stacks of the view that do not reach their root (by reason), named shortfalls; each with its fix
// where one is known. Empty when nothing is missing.
std::vector<std::string> footer_lines(const Profile& profile, const View& view);

}  // namespace jitprof
