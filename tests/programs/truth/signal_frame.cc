// SPDX-License-Identifier: Apache-2.0
// Handlers on top of what they interrupted: the very first instruction of a function (its pc must not be
// taken for a return address: one byte less is another function), any instruction of a loop, and a system
// call inside libc.
//
// chain: main;signal_frame::run;signal_frame::faults_at_entry;*;signal_frame::on_fault
// chain: main;signal_frame::run;signal_frame::faults_at_entry
// chain: main;signal_frame::run;signal_frame::waits
// chain: main;signal_frame::run;signal_frame::waits;*;signal_frame::on_timer
// chain: main;signal_frame::run;signal_frame::raises;*;signal_frame::on_raise;signal_frame::leaf

#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include "phenomena.h"
#include "spin.h"

namespace signal_frame {

volatile sig_atomic_t waiting;
volatile sig_atomic_t handled;
timer_t timer;

KEEP void arm_timer() {
  itimerspec once{};
  once.it_value.tv_nsec = 300'000;
  timer_settime(timer, 0, &once, nullptr);
}

// ud2, two bytes long, raises SIGILL.
__attribute__((naked, noinline)) void faults_at_entry() { asm("ud2\n\tret"); }

KEEP void on_fault(int, siginfo_t*, void* context) {
  SPIN(30);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;
}

KEEP void waits() {
  waiting = 1;
  while (!handled) SPIN(1);
  waiting = 0;
}

KEEP void on_timer(int) {
  if (!waiting) {  // the process lost its processor between arming and waiting
    arm_timer();
    return;
  }
  SPIN(30);
  handled = 1;
}

KEEP void leaf() { SPIN(30); }

KEEP void on_raise(int) {
  leaf();
  NOT_A_TAIL_CALL();
}

KEEP void raises() {
  raise(SIGUSR1);
  NOT_A_TAIL_CALL();
}

KEEP void install_handlers() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_fault;
  sigaction(SIGILL, &action, nullptr);
  action.sa_flags = 0;
  action.sa_handler = on_timer;
  sigaction(SIGUSR2, &action, nullptr);
  action.sa_handler = on_raise;
  sigaction(SIGUSR1, &action, nullptr);
}

KEEP void run(int units) {
  install_handlers();
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR2;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  for (int i = 0; i < units; i += 93) {
    faults_at_entry();
    handled = 0;
    arm_timer();
    waits();
    raises();
  }
  timer_delete(timer);
}

}  // namespace signal_frame
