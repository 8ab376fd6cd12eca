// SPDX-License-Identifier: Apache-2.0
// A destructor run while unwinding and a catch handler's callee. The unwinder has left the stack by then: it
// enters landing pads by a jump (g++ puts those into the .cold part).
//
// chain: main;exception::run;exception::catches;exception::risky;exception::Guard::~Guard
// chain: main;exception::run;exception::catches;exception::handle

#include "phenomena.h"
#include "spin.h"

namespace exception {

struct Guard {
  KEEP ~Guard() { SPIN(50); }
};

KEEP void throws(int value) {
  if (value > 0) throw value;
}

KEEP void risky(int value) {
  Guard guard;
  throws(value);
}

KEEP void handle(int) { SPIN(50); }

KEEP void catches(int value) {
  try {
    risky(value);
  } catch (int caught) {
    handle(caught);
  }
}

KEEP void run(int units) {
  for (int i = 0; i < units; i += 100) catches(1);
}

}  // namespace exception
