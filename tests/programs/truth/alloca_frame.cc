// SPDX-License-Identifier: Apache-2.0
// A frame whose size is known only at run time, so that its CFA needs the frame pointer, as leaf and as
// caller.
//
// chain: main;alloca_frame::run;alloca_frame::has_alloca
// chain: main;alloca_frame::run;alloca_frame::has_alloca;alloca_frame::leaf

#include <alloca.h>

#include "phenomena.h"
#include "spin.h"

namespace alloca_frame {

KEEP void leaf(char* bytes) {
  bytes[0] = 1;
  SPIN(1);
}

KEEP void has_alloca(unsigned long size) {
  char* bytes = static_cast<char*>(alloca(size));
  OPAQUE(bytes);
  SPIN(1);
  leaf(bytes);
  NOT_A_TAIL_CALL();
}

KEEP void run(int units) {
  for (int i = 0; i < units; i += 2) has_alloca(64 + static_cast<unsigned long>(i) * 24);
}

}  // namespace alloca_frame
