// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "base/result.h"
#include "output/view.h"

namespace jitprof {

// google/pprof's profile.proto, gzip-compressed. All value types of the profile; of the view only its filters
// and `inlined` count.
void write_pprof(const Profile& profile, const View& view, std::ostream& out);

}  // namespace jitprof
