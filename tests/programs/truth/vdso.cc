// SPDX-License-Identifier: Apache-2.0
// Code that is in no file: the vdso's clock_gettime. The wildcard stands for libc's and the vdso's frames;
// the vdso's inner functions have no symbols.
//
// chain: main;vdso::run;vdso::reads_clock;*

#include <time.h>

#include "phenomena.h"
#include "spin.h"

namespace vdso {

KEEP void reads_clock() {
  for (int i = 0; i < 3000; ++i) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    asm volatile("" ::"m"(now));
  }
}

KEEP void run(int units) {
  for (int i = 0; i < units; ++i) reads_clock();
}

}  // namespace vdso
