// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "output/format/text.h"
#include "output/view.h"

namespace jitprof {

// How far a view's stacks can be trusted. First the share of complete ones, who found the frames, callers
// behind no call, and what footer_lines says of missing things (both of the whole profile); then a table of
// the incomplete ones: stacks, share of all, reason, process, the module of the last frame found, and what
// makes them complete. Most stacks first; `options` gives the page.
void write_quality(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out);

}  // namespace jitprof
