// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "output/format/text.h"

namespace jitprof {

// The call tree from the roots, heaviest child first.
void write_tree(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out);

}  // namespace jitprof
