// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "output/format/text.h"

namespace jitprof {

// The call tree from the roots, heaviest child first, a frame a line. A frame's number is its level, 0 for a
// root, and is the same on every page.
void write_tree(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out);

}  // namespace jitprof
