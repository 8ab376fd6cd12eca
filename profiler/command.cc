// SPDX-License-Identifier: Apache-2.0
#include "profiler/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace jitprof {
namespace {

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("cannot open a pipe: ") + std::strerror(errno)};
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

[[noreturn]] void run_child(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment, bool output_to_stderr,
                            const StopSignals& signals, const Pipe& go, const Pipe& exec_error) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  // Our copy of the writing end would keep the pipe from ever ending if the recorder dies.
  close(go.write_end.number());
  char byte;
  if (read(go.read_end.number(), &byte, 1) != 1) _exit(125);
  for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
  if (output_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
  signals.restore();
  execvp(argv[0], argv.data());
  int error = errno;
  [[maybe_unused]] ssize_t done = write(exec_error.write_end.number(), &error, sizeof error);
  _exit(127);
}

}  // namespace

Result<Command> Command::fork(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment, bool output_to_stderr,
                              const StopSignals& signals) {
  Pipe go = JP_TRY(open_pipe());
  Pipe exec_error = JP_TRY(open_pipe());
  Command command;
  command.pid_ = ::fork();
  if (command.pid_ < 0) return Error{std::string("cannot start a process: ") + std::strerror(errno)};
  if (command.pid_ == 0) run_child(arguments, environment, output_to_stderr, signals, go, exec_error);
  command.end_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, command.pid_, 0)));
  if (!command.end_.is_open()) {
    return Error{std::string("cannot watch the command (pidfd_open, Linux 5.3 or newer): ") +
                 std::strerror(errno)};
  }
  command.go_ = std::move(go.write_end);
  command.exec_error_ = std::move(exec_error.read_end);
  return command;
}

Command::~Command() {
  if (!go_.is_open()) return;
  go_.reset();
  waitpid(pid_, nullptr, 0);
}

int Command::start() {
  char byte = 1;
  [[maybe_unused]] ssize_t done = write(go_.number(), &byte, 1);
  go_.reset();
  int error = 0;
  // The pipe closes on exec; bytes in it are the reason why there was none.
  ssize_t got;
  do {
    got = read(exec_error_.number(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  exec_error_.reset();
  return got == sizeof error ? error : 0;
}

int Command::wait(StopSignals& signals) {
  pollfd files[2] = {{end_.number(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
  while (poll(files, 2, -1) >= 0 || errno == EINTR) {
    if (files[0].revents != 0) break;
    if (signals.take() != 0) kill(pid_, SIGKILL);
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool Command::ends_within(int grace_ms) const {
  pollfd file = {end_.number(), POLLIN, 0};
  return poll(&file, 1, grace_ms) != 0;
}

void Command::ask_to_end(int grace_ms) const {
  if (!ends_within(grace_ms)) kill(pid_, SIGTERM);
}

int exec_failure_status(int error) { return error == ENOENT || error == ENOTDIR ? 127 : 126; }

}  // namespace jitprof
