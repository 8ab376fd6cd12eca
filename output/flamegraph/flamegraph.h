// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "output/view.h"

namespace jitprof {

// One self-contained HTML page that asks nothing of a network: an icicle of the view's stacks with zoom and
// search; inlined frames are joined to the physical frame they run in. Values are exact up to 2^53, as
// JavaScript counts.
void write_flamegraph(const Profile& profile, const View& view, std::ostream& out);

}  // namespace jitprof
