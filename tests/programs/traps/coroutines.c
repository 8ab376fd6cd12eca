// SPDX-License-Identifier: Apache-2.0
// coroutines: between two breakpoints (int3) a coroutine of makecontext is entered, switches back and is
// entered again.

#define _GNU_SOURCE
#include <stddef.h>
#include <ucontext.h>

#define KEEP __attribute__((noipa))
#define NOT_A_TAIL_CALL() __asm__ volatile("" ::: "memory")

static ucontext_t outside, inside;
static char stack[64 << 10];
static volatile long sink;

KEEP static void works(void) { sink = sink + 1; }

KEEP static void body(void) {
  works();
  swapcontext(&inside, &outside);
  works();
}

KEEP static void switches(void) {
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = sizeof stack;
  inside.uc_link = &outside;
  makecontext(&inside, body, 0);
  for (int i = 0; i < 2; ++i) swapcontext(&outside, &inside);
  NOT_A_TAIL_CALL();
}

int main(void) {
  __asm__ volatile("int3" ::: "memory");
  switches();
  __asm__ volatile("int3" ::: "memory");
  return 0;
}
