// SPDX-License-Identifier: Apache-2.0
// Captures its own stack below a known chain of functions: the argument names which.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "capture.h"

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

KEEP static void leaf(void) {
  capture(NULL);
  NOT_A_TAIL_CALL();
}

KEEP static void middle(void) {
  leaf();
  NOT_A_TAIL_CALL();
}

KEEP static void outer(void) {
  middle();
  NOT_A_TAIL_CALL();
}

KEEP static void recurse(int depth) {
  if (depth == 0) {
    leaf();
  } else {
    recurse(depth - 1);
  }
  NOT_A_TAIL_CALL();
}

KEEP static int compare(const void* left, const void* right) {
  static int captured;
  if (!captured++) leaf();
  return *(const int*)left - *(const int*)right;
}

KEEP static void sorts(void) {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof numbers[0], compare);
  NOT_A_TAIL_CALL();
}

// Over-aligned locals beside alloca: the CFA is found through a saved pointer (DRAP).
KEEP static void realigned(size_t size) {
  __attribute__((aligned(64))) volatile char block[128];
  volatile char* variable = __builtin_alloca(size);
  variable[0] = block[0] = 1;
  leaf();
  variable[1] = block[0];
}

// The call is the last instruction of the function, the return address is another function's.
__attribute__((noreturn)) KEEP static void never_returns(void) {
  leaf();
  print_capture();
  fflush(stdout);
  _Exit(0);
}
__attribute__((noreturn)) KEEP static void ends_in_call(void) {
  NOT_A_TAIL_CALL();
  never_returns();
}

KEEP static void on_signal(int number) {
  (void)number;
  leaf();
  NOT_A_TAIL_CALL();
}

KEEP static void raises(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  NOT_A_TAIL_CALL();
}

KEEP static void on_alternate_stack(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  capture(context);
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

// Interrupted at the very first instruction: one byte less would be another function.
__attribute__((naked, noinline)) static void faults_at_entry(void) { __asm__("ud2\n\tret"); }

KEEP static void faults(void) {
  stack_t stack = {.ss_size = 256 << 10};
  stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK, .sa_sigaction = on_alternate_stack};
  sigaction(SIGILL, &action, NULL);
  faults_at_entry();
  NOT_A_TAIL_CALL();
}

KEEP static void* in_thread(void* unused) {
  outer();
  NOT_A_TAIL_CALL();
  return unused;
}

KEEP static void on_own_stack(void) {
  static ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_size = 256 << 10;
  there.uc_stack.ss_sp =
      mmap(NULL, there.uc_stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  there.uc_link = &here;
  makecontext(&there, outer, 0);
  swapcontext(&here, &there);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "plain")) outer();
  if (!strcmp(what, "recursion")) recurse(1000);
  if (!strcmp(what, "qsort")) sorts();
  if (!strcmp(what, "realigned")) realigned(argc * 100);
  if (!strcmp(what, "noreturn")) ends_in_call();
  if (!strcmp(what, "signal")) raises();
  if (!strcmp(what, "alternate")) faults();
  if (!strcmp(what, "context")) on_own_stack();
  if (!strcmp(what, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  }
  print_capture();
  return 0;
}
