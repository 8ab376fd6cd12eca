// SPDX-License-Identifier: Apache-2.0
// A running process to attach to: two threads spin, each in its own marker, until SIGTERM or the given time
// of the wall clock. Usage: attach_marker [SECONDS]; exits 0 either way and prints nothing.

#include <csignal>
#include <cstdlib>
#include <thread>

#include "marker.h"

namespace {
volatile std::sig_atomic_t told_to_stop;
}  // namespace

extern "C" KEEP void marker_attach_main(double end) {
  SPIN_UNTIL(told_to_stop || seconds_on(CLOCK_MONOTONIC) >= end);
}

extern "C" KEEP void marker_attach_thread(double end) {
  SPIN_UNTIL(told_to_stop || seconds_on(CLOCK_MONOTONIC) >= end);
}

int main(int argc, char** argv) {
  std::signal(SIGTERM, [](int) { told_to_stop = 1; });
  const double end = seconds_on(CLOCK_MONOTONIC) + (argc > 1 ? std::atof(argv[1]) : 1);
  std::thread second(marker_attach_thread, end);
  marker_attach_main(end);
  second.join();
  return 0;
}
