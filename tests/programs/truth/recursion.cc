// SPDX-License-Identifier: Apache-2.0
// Direct recursion 60 deep, and two functions that call each other.
//
// chain: main;recursion::run;recursion::descend x60;recursion::bottom
// chain: main;recursion::run;recursion::even;recursion::odd;recursion::even;recursion::odd;recursion::bottom

#include "phenomena.h"
#include "spin.h"

namespace recursion {

KEEP void bottom() { SPIN(10); }

KEEP void descend(int levels) {
  if (levels > 1) {
    descend(levels - 1);
  } else {
    bottom();
  }
  NOT_A_TAIL_CALL();
}

KEEP void odd(int levels);

KEEP void even(int levels) {
  odd(levels - 1);
  NOT_A_TAIL_CALL();
}

KEEP void odd(int levels) {
  if (levels > 1) {
    even(levels - 1);
  } else {
    bottom();
  }
  NOT_A_TAIL_CALL();
}

KEEP void run(int units) {
  for (int i = 0; i < units; i += 20) {
    descend(60);
    even(4);
  }
}

}  // namespace recursion
