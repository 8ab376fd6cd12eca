// SPDX-License-Identifier: Apache-2.0
#include "profiler/record.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "profiler/clock.h"
#include "profiler/command.h"
#include "profiler/jit_runtime.h"
#include "profiler/machine_limits.h"
#include "profiler/process_snapshot.h"
#include "profiler/recorder.h"
#include "profiler/side_band.h"
#include "profiler/stop_signals.h"

namespace jitprof {
namespace {

constexpr uint32_t kLargestStack = 65528;
// After Ctrl-C in a terminal the command has had the signal as well and may be ending by itself.
constexpr int kGraceAfterSignal_ms = 500;

Status check(const RecordOptions& options) {
  if (options.frequency == 0) return Error{"a frequency of 0 samples nothing"};
  auto highest = sysctl_number("kernel/perf_event_max_sample_rate");
  if (highest && options.frequency > static_cast<uint64_t>(*highest)) {
    return Error{"frequency " + std::to_string(options.frequency) +
                 " is above kernel.perf_event_max_sample_rate, " + std::to_string(*highest) +
                 ": ask for less or run 'sudo sysctl kernel.perf_event_max_sample_rate=" +
                 std::to_string(options.frequency) + "'"};
  }
  bool is_stack = options.call_graph == RecordOptions::CallGraph::kStack;
  if (is_stack &&
      (options.stack_size == 0 || options.stack_size % 8 != 0 || options.stack_size > kLargestStack)) {
    return Error{"stack size " + std::to_string(options.stack_size) + ": it is a multiple of 8 up to " +
                 std::to_string(kLargestStack)};
  }
  return Nothing{};
}

SamplingPlan plan_for(const RecordOptions& options) {
  SamplingPlan plan;
  plan.frequency = options.frequency;
  plan.call_graph = options.call_graph == RecordOptions::CallGraph::kStack ? format::CallGraph::kStack
                                                                           : format::CallGraph::kFramePointer;
  plan.stack_size = plan.call_graph == format::CallGraph::kStack ? options.stack_size : 0;
  plan.inherit = options.inherit && !options.system_wide;
  plan.system_wide = options.system_wide;
  plan.start_on_exec = !options.command.empty() && options.delay_s <= 0;
  return plan;
}

// Threads × CPUs × events descriptors are needed.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Something to poll that is readable once the process has ended.
Result<Fd> watch_process(uint32_t pid) {
  Fd fd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (fd.is_open()) return fd;
  int error = errno;
  std::string leader = status_field(pid, "Tgid");
  if (pid == 0 || leader.empty()) return Error{"there is no process " + std::to_string(pid)};
  if (leader != std::to_string(pid)) {
    return Error{std::to_string(pid) + " is a thread of process " + leader + ": attach to that"};
  }
  return Error{"cannot watch process " + std::to_string(pid) + ": " + std::strerror(error)};
}

// Threads whose creation is in the rings already: they have inherited the events of their creator.
std::set<uint32_t> inherited_threads(RingSet& rings) {
  std::set<uint32_t> threads;
  for (PerfRing& ring : rings.rings) {
    ring.peek([&](Bytes record) {
      std::optional<TaskRecord> task = parse_task(record);
      if (task && task->type == PERF_RECORD_FORK) threads.insert(task->tid);
    });
  }
  return threads;
}

// Opens the events for every thread of the process, looking again until no thread is new: one may start while
// we are at it.
Status open_for_process(uint32_t pid, bool inherit, EventSet& events, RingSet& rings) {
  std::set<uint32_t> done;
  bool found_new = true;
  while (found_new) {
    found_new = false;
    std::set<uint32_t> inherited;
    if (inherit && !done.empty()) inherited = inherited_threads(rings);
    for (uint32_t tid : threads_of(pid)) {
      if (!done.insert(tid).second || inherited.count(tid) != 0) continue;
      found_new |= JP_TRY(events.open_for(static_cast<int32_t>(tid), rings));
    }
  }
  if (done.empty()) return Error{"there is no process " + std::to_string(pid)};
  return Nothing{};
}

Status open_targets(const RecordOptions& options, const std::optional<Command>& command, EventSet& events,
                    RingSet& rings) {
  if (options.system_wide) {
    (void)JP_TRY(events.open_for(-1, rings));
  } else if (command) {
    if (!JP_TRY(events.open_for(static_cast<int32_t>(command->pid()), rings))) {
      return Error{"the command ended before it began"};
    }
  }
  for (uint32_t pid : options.pids) (void)JP_TRY(open_for_process(pid, options.inherit, events, rings));
  return Nothing{};
}

uint64_t seconds_later(uint64_t from_ns, double seconds) {
  // 30 years are as good as never, and do not overflow.
  return from_ns + static_cast<uint64_t>(std::clamp(seconds, 0.0, 1e9) * 1e9);
}

enum class End { kTarget, kDuration, kSignal, kFailure };

// Records until something ends it.
End run(const RecordOptions& options, Recorder& recorder, StopSignals& signals, std::vector<int> targets) {
  uint64_t start = monotonic_ns();
  uint64_t enable_at = options.delay_s > 0 ? seconds_later(start, options.delay_s) : 0;
  uint64_t stop_at =
      options.duration_s ? seconds_later(std::max(start, enable_at), *options.duration_s) : UINT64_MAX;
  if (options.command.empty() && enable_at == 0) recorder.enable();
  while (true) {
    std::vector<int> wake = targets;
    wake.push_back(signals.fd());
    bool is_woken = recorder.wait(wake, enable_at != 0 ? std::min(enable_at, stop_at) : stop_at);
    if (recorder.failure()) return End::kFailure;
    uint64_t now = monotonic_ns();
    if (enable_at != 0 && now >= enable_at) {
      recorder.enable();
      enable_at = 0;
    }
    if (now >= stop_at) return End::kDuration;
    if (!is_woken) continue;
    if (signals.take() != 0) return End::kSignal;
    std::erase_if(targets, [](int fd) {
      pollfd file{fd, POLLIN, 0};
      return poll(&file, 1, 0) > 0;
    });
    if (targets.empty() && !options.system_wide) return End::kTarget;
  }
}

// How the command came out, once recording has ended.
int end_command(Command& command, End end, StopSignals& signals, const RecordOptions& options) {
  if (end == End::kDuration || end == End::kFailure) command.ask_to_end(0);
  if (end == End::kSignal) command.ask_to_end(kGraceAfterSignal_ms);
  if (!command.ends_within(kGraceAfterSignal_ms)) {
    options.on_note("recording has ended, the command (pid " + std::to_string(command.pid()) +
                    ") has not: waiting for it; Ctrl-C kills it");
  }
  int status = command.wait(signals);
  return end == End::kDuration ? 0 : status;
}

RecordFailure failure(const Error& error) { return {125, error.message}; }

std::vector<std::string> command_line_of(const RecordOptions& options) {
  if (!options.command.empty()) return options.command;
  if (options.system_wide) return {"-a"};
  std::vector<std::string> arguments;
  for (uint32_t pid : options.pids) arguments.insert(arguments.end(), {"-p", std::to_string(pid)});
  return arguments;
}

// What has to be there before the first sample.
struct Prepared {
  OutputFile output;
  SamplingPlan plan;
  RingSet rings;
  EventSet events;
  std::optional<Command> command;
  std::vector<Fd> processes;  // pidfds of the attached ones
};

// What the runtimes of the targets are told, or should have been.
JitSetup set_up_jit(const RecordOptions& options) {
  if (!options.sets_up_jit) return {};
  for (uint32_t pid : options.pids) {
    std::string missing = describe_missing_jit_setup(pid);
    if (!missing.empty()) options.on_note(missing);
  }
  JitSetup setup = jit_setup_of(options.command).value_or(JitSetup());
  if (!setup.note.empty()) options.on_note(setup.note);
  return setup;
}

Result<Prepared> prepare(const RecordOptions& options, const JitSetup& jit_setup,
                         const StopSignals& signals) {
  (void)JP_TRY(check(options));
  raise_file_limit();
  std::vector<Fd> processes;
  for (uint32_t pid : options.pids) processes.push_back(JP_TRY(watch_process(pid)));
  SamplingPlan plan = plan_for(options);
  std::vector<SamplingEvent> chosen = JP_TRY(choose_events(options.events, plan, options.on_note));
  OutputFile output = JP_TRY(OutputFile::prepare(options.output));
  RingSet rings = JP_TRY(open_rings(plan, static_cast<uint32_t>(chosen.size()), options.on_note));
  EventSet events(std::move(chosen), plan);
  std::optional<Command> command;
  if (!options.command.empty()) {
    command = JP_TRY(Command::fork(options.command, jit_setup.environment, options.output == "-", signals));
  }
  (void)JP_TRY(open_targets(options, command, events, rings));
  return Prepared{std::move(output),   plan, std::move(rings), std::move(events), std::move(command),
                  std::move(processes)};
}

std::vector<uint32_t> running_already(const RecordOptions& options) {
  std::vector<uint32_t> pids = options.system_wide ? all_processes() : options.pids;
  std::erase(pids, static_cast<uint32_t>(getpid()));
  return pids;
}

}  // namespace

std::variant<RecordSummary, RecordFailure> record(const RecordOptions& options) {
  StopSignals signals;
  uint64_t begin = monotonic_ns();
  JitSetup jit_setup = set_up_jit(options);
  Result<Prepared> result = prepare(options, jit_setup, signals);
  if (!result.ok()) return failure(result.error());
  Prepared& prepared = result.value();
  std::optional<Command>& command = prepared.command;
  std::vector<int> targets;
  for (const Fd& process : prepared.processes) targets.push_back(process.number());
  if (command) {
    if (int error = command->start(); error != 0) {
      return RecordFailure{exec_failure_status(error),
                           "cannot run '" + options.command.front() + "': " + std::strerror(error)};
    }
    targets.push_back(command->end_fd());
  }
  uint64_t start = monotonic_ns();
  Status committed = prepared.output.commit();
  if (!committed.ok()) {
    if (command) end_command(*command, End::kFailure, signals, options);
    return failure(committed.error());
  }
  Recorder recorder(std::move(prepared.rings), std::move(prepared.events), prepared.plan,
                    std::move(prepared.output), command_line_of(options), jit_setup, begin);
  recorder.snapshot(running_already(options));
  if (!command) start = monotonic_ns();
  End end = run(options, recorder, signals, std::move(targets));
  uint64_t stop = monotonic_ns();
  recorder.finish();
  for (const std::string& note : recorder.notes()) {
    if (options.on_note) options.on_note(note);
  }
  RecordSummary summary;
  if (command) summary.command_status = end_command(*command, end, signals, options);
  recorder.remove_added_files();
  if (recorder.failure()) return failure(*recorder.failure());
  summary.samples = recorder.samples();
  summary.lost = recorder.lost();
  summary.seconds = static_cast<double>(stop - start) / 1e9;
  summary.file_bytes = recorder.bytes_written();
  return summary;
}

}  // namespace jitprof
