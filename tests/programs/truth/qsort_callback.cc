// SPDX-License-Identifier: Apache-2.0
// Called back from inside libc, whose own functions have no symbols and no frame pointers.
//
// chain: main;qsort_callback::run;*;qsort_callback::compare

#include <cstdlib>

#include "phenomena.h"
#include "spin.h"

namespace qsort_callback {

KEEP int compare(const void* left, const void* right) {
  SPIN(1);
  const int a = *static_cast<const int*>(left);
  const int b = *static_cast<const int*>(right);
  return (a > b) - (a < b);
}

KEEP void run(int units) {
  // Merging 16 numbers takes 32 to 49 comparisons.
  for (int left = units; left > 0; left -= 45) {
    int numbers[16];
    for (int i = 0; i < 16; ++i) numbers[i] = i * 7 % 16;
    std::qsort(numbers, 16, sizeof numbers[0], compare);
    NOT_A_TAIL_CALL();
  }
}

}  // namespace qsort_callback
