// SPDX-License-Identifier: Apache-2.0
// Two jumps that were calls in the source: those frames are gone, and a true chain does not show them.
//
// chain: main;tail_call::run;tail_call::lands

#include "phenomena.h"
#include "spin.h"

#if defined(__clang__)
#define TAIL_CALL [[clang::musttail]] return
#else
#define TAIL_CALL return
#endif

namespace tail_call {

KEEP void lands(int units) { SPIN(units); }

KEEP void jumps_again(int units) { TAIL_CALL lands(units); }

KEEP void jumps(int units) { TAIL_CALL jumps_again(units); }

KEEP void run(int units) {
  for (int i = 0; i < units; ++i) jumps(1);
}

}  // namespace tail_call
