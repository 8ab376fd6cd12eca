// SPDX-License-Identifier: Apache-2.0
#include "tests/output/random_profile.h"

#include <random>

namespace jitprof::tests {

std::string random_text_profile(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&random](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  std::string text;
  for (unsigned line = 0; line < 300; ++line) {
    if (below(20) == 0) text += "#event " + std::to_string(below(2)) + "\n";
    if (below(10) == 0) {
      std::string id = std::to_string(below(4));
      text += "@" + std::to_string(below(3)) + "/" + id + " comm" + id + "\n";
    }
    if (below(8) == 0) text += below(2) == 0 ? "[truncated];" : "[no unwind info];";
    text += "f" + std::to_string(below(3));
    for (unsigned depth = below(12); depth > 0; --depth) {
      static const char* const kEndings[] = {"", "", "", "_[i]", "_[i]", "_[j]", "_[k]"};
      text += ";f" + std::to_string(below(9)) + kEndings[below(7)];
    }
    text += " " + std::to_string(1 + below(5)) + "\n";
  }
  return text;
}

}  // namespace jitprof::tests
