// SPDX-License-Identifier: Apache-2.0
// A binary that is gone: removes its own file, then spins in a marker. Run a copy of it. Usage:
// unlinked_marker [CPU_SECONDS]; prints nothing.

#include <unistd.h>

#include <cstdlib>

#include "marker.h"

extern "C" KEEP void marker_unlinked(double seconds) { SPIN_SECONDS(seconds); }

int main(int argc, char** argv) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return 1;
  self[length] = '\0';
  if (unlink(self) != 0) return 1;
  marker_unlinked(argc > 1 ? std::atof(argv[1]) : 1);
  return 0;
}
