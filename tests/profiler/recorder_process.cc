// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/recorder_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <variant>

#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

RecorderProcess::RecorderProcess(const RecordOptions& options) : pid_(fork()) {
  if (pid_ != 0) return;
  std::variant<RecordSummary, RecordFailure> outcome = record(options);
  const auto* summary = std::get_if<RecordSummary>(&outcome);
  _exit(summary != nullptr ? summary->command_status : 125);
}

RecorderProcess::~RecorderProcess() {
  if (pid_ > 0) end(SIGKILL);
}

void RecorderProcess::send(int number) { kill(pid_, number); }

int RecorderProcess::end(int number) {
  if (number != 0) send(number);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t RecorderProcess::command(const std::string& comm) const {
  for (auto give_up = Clock::now() + std::chrono::seconds(60); Clock::now() < give_up;) {
    std::string path = "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) + "/children";
    pid_t child = std::atoi(read_file(path).c_str());
    if (child != 0 && read_file("/proc/" + std::to_string(child) + "/comm") == comm + "\n") return child;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return 0;
}

void wait_until(const std::function<bool()>& is_done) {
  for (auto give_up = Clock::now() + std::chrono::seconds(100); !is_done() && Clock::now() < give_up;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace jitprof::tests
