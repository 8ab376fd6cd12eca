// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>

#include "output/view.h"

namespace jitprof {

// A page of a list; the whole list's length is always printed with it.
struct TextOptions {
  uint64_t offset = 0;
  uint64_t limit = 0;  // 0: all
  bool signatures = false;
};

// Functions by self value, inlined ones with their own; a function counts once per stack in total.
void write_text(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out);

}  // namespace jitprof
