// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "output/view.h"

namespace jitprof {

struct FoldedOptions {
  bool annotate = false;    // _[i] inlined, _[j] JIT, _[k] kernel
  bool signatures = false;  // functions with their parameters
};

// Brendan Gregg's folded stacks: "root;…;leaf VALUE" a line, one line per distinct text, sorted frame by
// frame by the frames' texts, callers first. In names ';' becomes ':', and newlines and other control
// characters become spaces.
void write_folded(const Profile& profile, const View& view, const FoldedOptions& options, std::ostream& out);

}  // namespace jitprof
