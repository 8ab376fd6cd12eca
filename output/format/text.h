// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "output/view.h"

namespace jitprof {

// A page of a list; the whole list's length is always printed with it.
struct TextOptions {
  uint64_t offset = 0;
  uint64_t limit = 0;  // 0: all
  bool signatures = false;
};

// What of a list is printed: from `first` up to but not including `end`.
struct Page {
  uint64_t first = 0;
  uint64_t end = 0;
};
Page page_of(const TextOptions& options, uint64_t length);
// "functions: 143, shown: 21 to 40", a line.
std::string describe_page(const Page& page, uint64_t length, const std::string& what);

// Functions by self value, inlined ones with their own; a function counts once per stack in total. Header
// lines tell the total, then come the columns self, self%, total, total%, function (declared where, else its
// module). Over the whole list the self column sums to the total exactly.
void write_text(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out);

}  // namespace jitprof
