// SPDX-License-Identifier: Apache-2.0
// Calls frameless.S between two breakpoints.
#define BREAKPOINT() __asm__ volatile("int3" ::: "memory")

void runs_frameless(void);

__attribute__((noinline)) static void calls_assembly(void) {
  BREAKPOINT();
  runs_frameless();
  BREAKPOINT();
}

int main(void) {
  calls_assembly();
  return 0;
}
