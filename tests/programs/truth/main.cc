// SPDX-License-Identifier: Apache-2.0
// The truth program: spends its CPU time, to well above 99.5 %, in the chains listed by the `// chain:` lines
// of the files beside this one. Usage: truth [CPU_SECONDS]; prints its deepest stack.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "../deepest_stack.h"
#include "phenomena.h"

namespace {

// About 20 ms: long beside the cost of starting a thread or reading the CPU clock, short enough that all
// phenomena get many turns in a run of two seconds.
constexpr int kUnitsPerTurn = 200;

constexpr void (*kPhenomena[])(int units) = {
    plain::run,     inlined::run,      two_parents::run, linkage::run,        recursion::run,
    tail_call::run, alloca_frame::run, cold_part::run,   qsort_callback::run, sort_comparator::run,
    exception::run, signal_frame::run, vdso::run,        second_thread::run,
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  const PaintedStack stack(argv);
  const double limit = argc > 1 ? std::atof(argv[1]) : 2;
  while (cpu_seconds() < limit) {
    for (auto run : kPhenomena) run(kUnitsPerTurn);
  }
  const unsigned long deepest = std::max<unsigned long>(stack.deepest(), second_thread::deepest_stack());
  std::printf("deepest stack: %lu bytes\n", deepest);
  return 0;
}
