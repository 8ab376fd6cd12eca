// SPDX-License-Identifier: Apache-2.0
// Called back from inside std::sort, of which each compiler inlines another part.
//
// chain: main;sort_comparator::run;*;sort_comparator::less

#include <algorithm>
#include <array>

#include "phenomena.h"
#include "spin.h"

namespace sort_comparator {

KEEP bool less(int left, int right) {
  SPIN(1);
  return left < right;
}

KEEP void run(int units) {
  // 24 elements: more than the 16 that std::sort leaves to insertion sort; about 130 comparisons.
  for (int left = units; left > 0; left -= 130) {
    std::array<int, 24> numbers{};
    for (int i = 0; i < 24; ++i) numbers[static_cast<std::size_t>(i)] = i * 7 % 24;
    std::sort(numbers.begin(), numbers.end(), less);
    NOT_A_TAIL_CALL();
  }
}

}  // namespace sort_comparator
