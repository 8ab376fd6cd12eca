// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "output/view.h"

namespace jitprof {

// One self-contained HTML page: an icicle of the view's stacks with zoom and search; inlined frames are
// joined to the physical frame they run in.
void write_flamegraph(const Profile& profile, const View& view, std::ostream& out);

}  // namespace jitprof
