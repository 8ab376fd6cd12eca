// SPDX-License-Identifier: Apache-2.0
// Three inlined levels in one frame, with time spent at each depth of inlining, and inlined levels above and
// below a real call.
//
// chain: main;inlined::run;inlined::outer;inlined::first_[i];inlined::second_[i];inlined::third_[i]
// chain: main;inlined::run;inlined::outer;inlined::first_[i];inlined::second_[i]
// chain: main;inlined::run;inlined::outer;inlined::first_[i]
// chain: main;inlined::run;inlined::outer
// chain: main;inlined::run;inlined::calls_through;inlined::caller_[i];inlined::callee;inlined::third_[i]

#include "phenomena.h"
#include "spin.h"

namespace inlined {

INLINED void third() { SPIN(2); }

INLINED void second() {
  SPIN(2);
  third();
}

INLINED void first() {
  second();
  SPIN(2);
}

KEEP void outer() {
  first();
  SPIN(2);
}

KEEP void callee() {
  third();
  NOT_A_TAIL_CALL();
}

INLINED void caller() {
  callee();
  NOT_A_TAIL_CALL();
}

KEEP void calls_through() {
  caller();
  NOT_A_TAIL_CALL();
}

KEEP void run(int units) {
  for (int i = 0; i < units; i += 10) {
    outer();
    calls_through();
  }
}

}  // namespace inlined
