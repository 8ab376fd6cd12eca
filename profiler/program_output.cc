// SPDX-License-Identifier: Apache-2.0
#include "profiler/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "profiler/clock.h"
#include "profiler/fd.h"

namespace jitprof {
namespace {

constexpr uint64_t kPatience_ns = 5'000'000'000;
constexpr size_t kMostOutput = 1 << 20;

// Up to the end of the output; false when it does not come in time.
bool read_all(int fd, std::string& text) {
  uint64_t give_up = monotonic_ns() + kPatience_ns;
  char buffer[4096];
  while (text.size() < kMostOutput) {
    uint64_t now = monotonic_ns();
    if (now >= give_up) return false;
    pollfd file{fd, POLLIN, 0};
    if (poll(&file, 1, static_cast<int>((give_up - now) / 1'000'000) + 1) <= 0) continue;
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(buffer, static_cast<size_t>(got));
  }
  return true;
}

}  // namespace

std::optional<std::string> output_of_program(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  Fd output(ends[0]), input(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, input.number(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  int problem = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return std::nullopt;
  input.reset();
  std::string text;
  bool is_whole = read_all(output.number(), text);
  output.reset();
  if (!is_whole) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  bool went_well = is_whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return went_well ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace jitprof
