// SPDX-License-Identifier: Apache-2.0
#include "profiler/stop_signals.h"

#include <sys/signalfd.h>

#include <cstring>

namespace jitprof {
namespace {

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

StopSignals::StopSignals() {
  // A shell starts background jobs with SIGINT ignored, and an ignored signal never reaches a signalfd.
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigset_t taken;
  sigemptyset(&taken);
  for (size_t i = 0; i < std::size(kStopSignals); ++i) {
    // nohup is an order to outlive the terminal.
    sigaction(kStopSignals[i], nullptr, &actions_before_[i]);
    bool is_nohup = kStopSignals[i] == SIGHUP && actions_before_[i].sa_handler == SIG_IGN;
    if (is_nohup) continue;
    sigaction(kStopSignals[i], &action, nullptr);
    sigaddset(&taken, kStopSignals[i]);
  }
  sigaddset(&taken, SIGPIPE);
  sigaddset(&taken, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &taken, &mask_before_);
  file_ = Fd(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

StopSignals::~StopSignals() {
  // What is still pending was for the recording.
  while (take() != 0) {
  }
  restore();
}

int StopSignals::take() {
  signalfd_siginfo info;
  while (read(file_.number(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGPIPE && info.ssi_signo != SIGXFSZ) return static_cast<int>(info.ssi_signo);
  }
  return 0;
}

void StopSignals::restore() const {
  for (size_t i = 0; i < std::size(kStopSignals); ++i)
    sigaction(kStopSignals[i], &actions_before_[i], nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

}  // namespace jitprof
