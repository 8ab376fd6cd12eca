// SPDX-License-Identifier: Apache-2.0
// One function inlined under two parents that are inlined into the same frame, and there once more directly.
//
// chain: main;two_parents::run;two_parents::outer;two_parents::left_[i];two_parents::shared_[i]
// chain: main;two_parents::run;two_parents::outer;two_parents::right_[i];two_parents::shared_[i]
// chain: main;two_parents::run;two_parents::outer;two_parents::shared_[i]

#include "phenomena.h"
#include "spin.h"

namespace two_parents {

INLINED void shared() { SPIN(1); }

INLINED void left() {
  shared();
  NOT_A_TAIL_CALL();
}

INLINED void right() {
  NOT_A_TAIL_CALL();
  shared();
}

KEEP void outer() {
  left();
  right();
  shared();
}

KEEP void run(int units) {
  for (int i = 0; i < units; i += 3) outer();
}

}  // namespace two_parents
