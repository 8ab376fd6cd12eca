// SPDX-License-Identifier: Apache-2.0
// A call chain of ordinary functions.
//
// chain: main;plain::run;plain::outer;plain::middle;plain::leaf

#include "phenomena.h"
#include "spin.h"

namespace plain {

KEEP void leaf() { SPIN(1); }

KEEP void middle() {
  leaf();
  NOT_A_TAIL_CALL();
}

KEEP void outer() {
  middle();
  NOT_A_TAIL_CALL();
}

KEEP void run(int units) {
  for (int i = 0; i < units; ++i) outer();
}

}  // namespace plain
