// SPDX-License-Identifier: Apache-2.0
#include "base/one_line.h"

namespace jitprof {

std::string on_one_line(std::string_view text) {
  std::string line(text);
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = ' ';
  }
  return line;
}

}  // namespace jitprof
