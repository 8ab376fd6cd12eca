// SPDX-License-Identifier: Apache-2.0
// Runs toy code: "sample" takes a sample below ten toy functions, "steps" counts the instructions of toy code
// in a run of three, a number takes the sample before that one of them, "burn" uses half a second of CPU
// time.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "../own_stack/capture.h"
#include "toy_vm.h"

static unsigned char* code;
static unsigned long steps;
static unsigned long wanted_step;
static volatile int is_stepping;
static volatile unsigned long sink;

static void captures(void) {
  capture(NULL);
  NOT_A_TAIL_CALL();
}

static void does_nothing(void) {}

static void burns(void) {
  for (unsigned i = 0; i < 20000; ++i) sink += i;
  NOT_A_TAIL_CALL();
}

// Comes before every instruction while the trap flag is set.
static void on_step(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  uintptr_t inside = (uintptr_t)registers[REG_RIP] - (uintptr_t)code;
  if (inside < kToyBlock && ++steps == wanted_step) capture(NULL);
  const greg_t kTrapFlag = 0x100;
  if (is_stepping) {
    registers[REG_EFL] |= kTrapFlag;
  } else {
    registers[REG_EFL] &= ~kTrapFlag;
  }
}

__attribute__((noinline)) static void step_through(void) {
  struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_step};
  sigaction(SIGTRAP, &action, NULL);
  is_stepping = 1;
  raise(SIGTRAP);
  toy_run(2);
  is_stepping = 0;
  NOT_A_TAIL_CALL();
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "sample")) {
    toy_start(captures, 1);
    toy_run(9);
    print_capture();
  } else if (!strcmp(what, "burn")) {
    toy_start(burns, 20000);
    while (clock() < CLOCKS_PER_SEC / 2) toy_run(19);
  } else {
    code = toy_start(does_nothing, 1);
    wanted_step = strtoul(what, NULL, 10);
    step_through();
    if (wanted_step) {
      print_capture();
    } else {
      printf("%lu\n", steps);
    }
  }
  return 0;
}
