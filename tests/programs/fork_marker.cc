// SPDX-License-Identifier: Apache-2.0
// fork: the parent before and after it, a child and a grandchild, each in its own marker. The children never
// exec, so all they have mapped was inherited. Usage: fork_marker [CPU_SECONDS in all]; prints nothing.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "marker.h"

extern "C" KEEP void marker_before_fork(double seconds) { SPIN_SECONDS(seconds); }
extern "C" KEEP void marker_parent(double seconds) { SPIN_SECONDS(seconds); }
extern "C" KEEP void marker_child(double seconds) { SPIN_SECONDS(seconds); }
extern "C" KEEP void marker_grandchild(double seconds) { SPIN_SECONDS(seconds); }

int main(int argc, char** argv) {
  const double quarter = (argc > 1 ? std::atof(argv[1]) : 1) / 4;
  marker_before_fork(quarter);
  if (fork() == 0) {
    if (fork() == 0) {
      marker_grandchild(quarter);
      _exit(0);
    }
    marker_child(quarter);
    wait(nullptr);
    _exit(0);
  }
  marker_parent(quarter);
  wait(nullptr);
  return 0;
}
