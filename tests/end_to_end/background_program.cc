// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/background_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/result.h"

namespace jitprof::tests {

BackgroundProgram::BackgroundProgram(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  JP_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    int nowhere = open("/dev/null", O_RDWR);
    for (int fd : {0, 1, 2}) dup2(nowhere, fd);
    execvp(argv[0], argv.data());
    _exit(127);
  }
}

BackgroundProgram::~BackgroundProgram() {
  if (pid_ > 0) end(SIGKILL);
}

int BackgroundProgram::end(int signal) {
  kill(pid_, signal);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

double cpu_seconds_of(pid_t pid) {
  clockid_t clock;
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace jitprof::tests
