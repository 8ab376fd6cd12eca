// SPDX-License-Identifier: Apache-2.0
// g++ moves a branch that leads to a cold function into a part of its own, NAME.cold in .text.unlikely; that
// part is entered by a jump, and its frame is the function's. clang leaves it in place.
//
// chain: main;cold_part::run;cold_part::rare_branch
// chain: main;cold_part::run;cold_part::rare_branch_with_inlinee;cold_part::inlinee_[i]
// chain: main;cold_part::run;cold_part::rare_branch_with_call;cold_part::leaf

#include "phenomena.h"
#include "spin.h"

namespace cold_part {

// Does nothing; what calls it is what the compiler takes for never executed.
KEEP __attribute__((cold)) void mark_rare() { asm volatile(""); }

KEEP void leaf() { SPIN(1); }

INLINED void inlinee() { SPIN(1); }

KEEP void rare_branch(bool rare) {
  if (rare) {
    mark_rare();
    SPIN(1);
  }
}

KEEP void rare_branch_with_inlinee(bool rare) {
  if (rare) {
    mark_rare();
    inlinee();
  }
}

KEEP void rare_branch_with_call(bool rare) {
  if (rare) {
    mark_rare();
    leaf();
    NOT_A_TAIL_CALL();
  }
}

KEEP void run(int units) {
  for (int i = 0; i < units; i += 3) {
    rare_branch(true);
    rare_branch_with_inlinee(true);
    rare_branch_with_call(true);
  }
}

}  // namespace cold_part
