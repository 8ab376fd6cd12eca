// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "truth/spin.h"

// A marker is a function `extern "C" KEEP void marker_NAME(double seconds)` that spends its time in itself,
// with nothing inlined into it, so that practically every sample below main must carry a marker's name.

// Looks at the condition about once a millisecond.
#define SPIN_UNTIL(condition)      \
  do {                             \
    while (!(condition)) SPIN(10); \
  } while (0)

KEEP static double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The body of most markers: spins for `seconds` of this thread's CPU time.
#define SPIN_SECONDS(seconds)                                                \
  do {                                                                       \
    const double spin_end = seconds_on(CLOCK_THREAD_CPUTIME_ID) + (seconds); \
    SPIN_UNTIL(seconds_on(CLOCK_THREAD_CPUTIME_ID) >= spin_end);             \
  } while (0)
