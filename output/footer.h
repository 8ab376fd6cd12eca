// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "output/view.h"

namespace jitprof {

// What a reader of any output must know about what is missing in it, a line each, without newlines: stacks of
// the view that do not reach their root (by reason), then missing_lines; each with its fix where one is
// known. Empty when nothing is missing.
std::vector<std::string> footer_lines(const Profile& profile, const View& view);

// The part that is the same for every view: lost records and named shortfalls.
std::vector<std::string> missing_lines(const Profile& profile);

}  // namespace jitprof
