// SPDX-License-Identifier: Apache-2.0
// scenarios NAME [NUMBER]: runs one scenario between two breakpoints (int3), or up to one where nothing comes
// back. A tracer steps from the first to the second or looks at the stack at a breakpoint.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif
#define BREAKPOINT() __asm__ volatile("int3" ::: "memory")
// Keeps the call before it from becoming a jump.
#define NOT_A_TAIL_CALL() __asm__ volatile("" ::: "memory")

static volatile long sink;

KEEP static void leaf(void) { sink = sink + 1; }

KEEP static void stops(void) {
  BREAKPOINT();
  NOT_A_TAIL_CALL();
}

// The return address of vfork waits in a register: parent and child share the stack.
KEEP static void forks(void) {
  pid_t child = vfork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
}

// First through the resolver of ld.so, then straight from the PLT.
KEEP static void calls_through_plt(void) {
  for (int i = 0; i < 2; ++i) sink += getpgid(0);
}

// Over-aligned locals beside alloca: the CFA is found through a saved pointer (DRAP).
KEEP static void realigned(size_t size) {
  __attribute__((aligned(64))) volatile char block[128];
  volatile char* variable = __builtin_alloca(size);
  variable[0] = block[0] = 1;
  leaf();
  variable[1] = block[0];
}

KEEP static int compare(const void* left, const void* right) {
  leaf();
  return *(const int*)left - *(const int*)right;
}
KEEP static void sorts(void) {
  int numbers[] = {3, 1, 2, 9, 4};
  qsort(numbers, 5, sizeof numbers[0], compare);
  NOT_A_TAIL_CALL();
}

// The call is the last instruction of each function, the return address another function's first.
__attribute__((noreturn)) KEEP static void never_returns(void) {
  BREAKPOINT();
  leaf();
  BREAKPOINT();
  _exit(0);
}
__attribute__((noreturn)) KEEP static void ends_in_call(void) {
  NOT_A_TAIL_CALL();
  never_returns();
}

// Compilers move the unlikely half to another section, with the frame still set up by the first.
__attribute__((cold)) KEEP static void complains(long why) { sink = why; }
KEEP static long splits(long number, long* other) {
  long doubled = number * 2, kept = *other;
  leaf();
  if (__builtin_expect(number > 0, 0)) {
    complains(doubled + kept);
    complains(*other - kept);
    leaf();
  }
  leaf();
  return doubled + kept;
}

KEEP static void asks_the_time(void) {
  struct timespec now;
  for (int i = 0; i < 2; ++i) sink += clock_gettime(i ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
  sink += time(NULL);
}

KEEP static void on_inner_signal(int number) {
  sink += number;
  leaf();
}
KEEP static void on_outer_signal(int number) {
  leaf();
  if (number == SIGUSR1) raise(SIGUSR2);
  NOT_A_TAIL_CALL();
}
KEEP static void raises(int number) {
  raise(number);
  NOT_A_TAIL_CALL();
}

// Interrupted at the very first instruction: one byte less would be another function.
__attribute__((naked, noinline)) static void faults_at_entry(__attribute__((unused)) void* page) {
  __asm__("movb (%rdi), %al\n\tret");
}
static void* forbidden;
enum { kPage = 4096 };
KEEP static void faults(void) {
  forbidden = mmap(NULL, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  faults_at_entry(forbidden);
  NOT_A_TAIL_CALL();
}
KEEP static void on_fault(int number) {
  mprotect(forbidden, kPage, PROT_READ);
  on_outer_signal(number == SIGSEGV ? SIGUSR1 : 0);
  NOT_A_TAIL_CALL();
}

static void set_handlers(void* alternate_stack, size_t size) {
  stack_t stack = {.ss_sp = alternate_stack, .ss_size = size};
  if (alternate_stack != NULL) sigaltstack(&stack, NULL);
  struct sigaction fault = {.sa_flags = SA_ONSTACK, .sa_handler = on_fault};
  struct sigaction outer = {.sa_handler = on_outer_signal};
  struct sigaction inner = {.sa_flags = SA_ONSTACK, .sa_handler = on_inner_signal};
  sigaction(SIGSEGV, &fault, NULL);
  sigaction(SIGUSR1, &outer, NULL);
  sigaction(SIGUSR2, &inner, NULL);
}

KEEP static void signals(const char* how) {
  enum { kSize = 64 << 10 };
  // Its place is above the frames that the handler interrupts: from there a CFA goes down.
  char above[kSize];
  void* alternate = NULL;
  if (!strcmp(how, "alternate_above")) alternate = above;
  if (!strcmp(how, "alternate"))
    alternate = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  set_handlers(alternate, kSize);
  BREAKPOINT();
  if (alternate != NULL) faults();
  raises(!strcmp(how, "signal") ? SIGUSR2 : SIGUSR1);
  BREAKPOINT();
  sink += above[sink & 1];
}

KEEP static void recurse(long depth) {
  if (depth == 0) {
    stops();
  } else {
    recurse(depth - 1);
  }
  NOT_A_TAIL_CALL();
}

KEEP static void* in_thread(void* depth) {
  recurse((long)depth);
  NOT_A_TAIL_CALL();
  return NULL;
}
KEEP static void starts_thread(long depth) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 4 << 20);
  pthread_create(&thread, &attributes, in_thread, (void*)depth);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  long number = argc > 2 ? atol(argv[2]) : 0;
  if (!strcmp(what, "noreturn")) ends_in_call();
  if (strstr(what, "signal") || strstr(what, "alternate")) {
    signals(what);
    return 0;
  }
  if (!strcmp(what, "recursion")) recurse(number);
  if (!strcmp(what, "thread")) starts_thread(number);

  BREAKPOINT();
  if (!strcmp(what, "vfork")) forks();
  if (!strcmp(what, "plt")) calls_through_plt();
  if (!strcmp(what, "realigned")) realigned(argc * 100);
  if (!strcmp(what, "qsort")) sorts();
  if (!strcmp(what, "cold")) sink = splits(argc, (long*)&sink);
  if (!strcmp(what, "vdso")) asks_the_time();
  BREAKPOINT();
  return 0;
}
