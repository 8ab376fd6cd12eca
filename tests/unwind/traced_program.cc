// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/traced_program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/result.h"
#include "tests/unwind/proc_maps.h"

namespace jitprof::tests {
namespace {

// A program that waits for something that never comes is ended by its own alarm.
constexpr unsigned kLongestRun_s = 120;

[[noreturn]] void exec_traced(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment) {
  // A group of its own: waiting for it leaves other children of the test alone.
  setpgid(0, 0);
  alarm(kLongestRun_s);
  int nowhere = open("/dev/null", O_RDWR);
  for (int fd : {0, 1}) dup2(nowhere, fd);
  for (const std::string& setting : environment) putenv(strdup(setting.c_str()));
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

// In the order of DWARF's numbers.
std::array<uint64_t, kRegisterCount> by_number(const user_regs_struct& regs) {
  return {regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi, regs.rbp, regs.rsp, regs.r8,
          regs.r9,  regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15, regs.rip};
}

// Whether the program has a handler for the signal (by /proc, which counts bits from 0).
bool handles(pid_t pid, int signal) {
  std::ifstream lines("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1;
  }
  return false;
}

}  // namespace

TracedProgram::TracedProgram(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment) {
  pid_ = fork();
  JP_CHECK(pid_ >= 0);
  if (pid_ == 0) exec_traced(arguments, environment);
  // In both processes, so that neither is too late.
  setpgid(pid_, pid_);
  int status = 0;
  JP_CHECK(waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status));
  ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
  thread_ = pid_;
  memory_ = open(("/proc/" + std::to_string(pid_) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  JP_CHECK(memory_ >= 0);
  read_registers();
}

TracedProgram::~TracedProgram() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    while (waitpid(-pid_, nullptr, __WALL) > 0) {
    }
  }
  close(memory_);
}

void TracedProgram::read_registers() { JP_CHECK(ptrace(PTRACE_GETREGS, thread_, nullptr, &registers_) == 0); }

bool TracedProgram::run_to_breakpoint() {
  ptrace(PTRACE_CONT, thread_, nullptr, pending_signal_);
  pending_signal_ = 0;
  for (int status = 0;;) {
    pid_t stopped = waitpid(-pid_, &status, __WALL);
    if (stopped < 0) return false;
    if (!WIFSTOPPED(status)) {
      if (stopped == pid_) return false;
      continue;
    }
    int signal = WSTOPSIG(status);
    bool is_event = (status >> 16) != 0;
    if (signal == SIGTRAP && !is_event) {
      thread_ = stopped;
      read_registers();
      return true;
    }
    // A new thread begins with SIGSTOP; both that and the parent's event are the tracer's own business.
    bool is_for_program = !is_event && signal != SIGSTOP;
    ptrace(PTRACE_CONT, stopped, nullptr, is_for_program ? signal : 0);
  }
}

TracedProgram::Step TracedProgram::step() {
  auto code = bytes_at(registers_.rip, 1);
  bool is_breakpoint = !code.empty() && code[0] == std::byte{0xcc};
  bool enters_handler = pending_signal_ != 0 && handles(pid_, pending_signal_);
  ptrace(PTRACE_SINGLESTEP, thread_, nullptr, pending_signal_);
  pending_signal_ = 0;
  int status = 0;
  if (waitpid(thread_, &status, __WALL) != thread_ || !WIFSTOPPED(status)) return Step::kEnded;
  if (WSTOPSIG(status) != SIGTRAP) {
    // Comes before the next instruction: deliver it and look again.
    pending_signal_ = WSTOPSIG(status);
    return step();
  }
  read_registers();
  if (enters_handler) return Step::kSignal;
  return is_breakpoint ? Step::kBreakpoint : Step::kInstruction;
}

std::vector<std::byte> TracedProgram::bytes_at(uint64_t position, size_t size) const {
  std::vector<std::byte> bytes(size);
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(memory_, bytes.data() + done, size - done, static_cast<off_t>(position + done));
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

std::optional<uint64_t> TracedProgram::word_at(uint64_t position) const {
  auto bytes = bytes_at(position, sizeof(uint64_t));
  if (bytes.size() != sizeof(uint64_t)) return std::nullopt;
  uint64_t word;
  memcpy(&word, bytes.data(), sizeof word);
  return word;
}

TakenSample TracedProgram::sample(size_t stack_bytes, std::optional<uint64_t> interrupted_sp) const {
  TakenSample taken;
  Sample& sample = taken.sample;
  sample.pid = static_cast<uint32_t>(pid_);
  sample.tid = static_cast<uint32_t>(thread_);
  sample.ip = {registers_.rip};
  auto values = by_number(registers_);
  for (unsigned i = 0; i < kRegisterCount; ++i) sample.registers.set(static_cast<Register>(i), values[i]);
  taken.stacks.push_back(bytes_at(registers_.rsp, stack_bytes));
  if (interrupted_sp) taken.stacks.push_back(bytes_at(*interrupted_sp, stack_bytes));
  for (size_t i = 0; i < taken.stacks.size(); ++i) {
    uint64_t start = i == 0 ? registers_.rsp : *interrupted_sp;
    sample.stack[i] = {.start = {start}, .bytes = taken.stacks[i], .asked = stack_bytes};
  }
  sample.stack_count = static_cast<uint32_t>(taken.stacks.size());
  return taken;
}

std::vector<MapEvent> TracedProgram::maps() const {
  std::ifstream lines("/proc/" + std::to_string(pid_) + "/maps");
  std::vector<MapEvent> events;
  for (std::string line; std::getline(lines, line);) events.push_back(map_event(pid_, line));
  return events;
}

void TracedProgram::tell(ModuleTable& modules, ProcessTable& processes) const {
  std::vector<MapEvent> events = maps();
  for (const MapEvent& event : events) {
    if (event.path != "[vdso]") continue;
    auto image = bytes_at(event.start.value, event.size);
    modules.apply(SideFileEvent{.kind = SideFileKind::kVdso, .path = "[vdso]", .bytes = image});
  }
  for (const MapEvent& event : events) processes.apply(event);
}

}  // namespace jitprof::tests
