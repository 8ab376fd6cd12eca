// SPDX-License-Identifier: Apache-2.0
#include "tests/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/result.h"

namespace jitprof::tests {
namespace {

[[noreturn]] void exec_child(const std::vector<std::string>& arguments, const std::string& directory,
                             const std::vector<std::string>& environment, int out, int err) {
  // A group of its own, so that a timeout also ends what the program started.
  setpgid(0, 0);
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(out, 1);
  dup2(err, 2);
  if (!directory.empty() && chdir(directory.c_str()) != 0) _exit(127);
  for (const std::string& setting : environment) putenv(strdup(setting.c_str()));
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& directory,
                          unsigned timeout_s, const std::vector<std::string>& environment) {
  int out[2], err[2];
  JP_CHECK(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
  pid_t pid = fork();
  JP_CHECK(pid >= 0);
  if (pid == 0) exec_child(arguments, directory, environment, out[1], err[1]);
  close(out[1]);
  close(err[1]);

  ProgramResult result;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  pollfd files[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || poll(files, 2, static_cast<int>(left.count())) == 0) {
      kill(-pid, SIGKILL);
      result.err += "\n[killed: ran over its time]";
      break;
    }
    for (auto [file, text] : {std::pair{&files[0], &result.out}, std::pair{&files[1], &result.err}}) {
      if (file->fd < 0 || file->revents == 0) continue;
      char buffer[65536];
      ssize_t got = read(file->fd, buffer, sizeof buffer);
      if (got > 0) {
        text->append(buffer, got);
      } else {
        file->fd = -1;
      }
    }
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

void compile(const std::string& compiler, const std::vector<std::string>& flags,
             const std::vector<std::string>& sources, const std::string& output) {
  std::vector<std::string> arguments = {compiler};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  for (const std::string& source : sources) {
    arguments.push_back(source.front() == '/' ? source
                                              : std::string(JP_SOURCE_ROOT "/tests/programs/") + source);
  }
  arguments.insert(arguments.end(), {"-o", output});
  ProgramResult result = run_program(arguments);
  if (result.status == 0) return;
  std::fprintf(stderr, "%s", result.err.c_str());
  JP_CHECK(!"the test program compiles");
}

}  // namespace jitprof::tests
