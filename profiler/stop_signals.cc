// SPDX-License-Identifier: Apache-2.0
#include "profiler/stop_signals.h"

#include <sys/signalfd.h>

#include <cstring>

namespace jitprof {

StopSignals::StopSignals() {
  // A shell starts background jobs with SIGINT ignored, and an ignored signal never reaches a signalfd.
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, &interrupt_before_);
  sigaction(SIGTERM, &action, &terminate_before_);
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGINT);
  sigaddset(&taken, SIGTERM);
  sigaddset(&taken, SIGPIPE);
  sigprocmask(SIG_BLOCK, &taken, &mask_before_);
  file_ = Fd(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

StopSignals::~StopSignals() {
  // What is still pending was for the recording.
  while (take() != 0) {
  }
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

int StopSignals::take() {
  signalfd_siginfo info;
  while (read(file_.number(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGPIPE) return static_cast<int>(info.ssi_signo);
  }
  return 0;
}

void StopSignals::restore_in_child() const {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

}  // namespace jitprof
