// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>

#include "profiler/event_name.h"
#include "profiler/machine_limits.h"
#include "profiler/perf_event.h"
#include "profiler/perf_ring.h"

namespace jitprof {
namespace {

// Ring for 0.5 s of 32 KiB stacks at 999 Hz.
constexpr uint64_t kUsualRing = 16u << 20;

SamplingPlan usual_plan(bool system_wide) {
  SamplingPlan plan;
  plan.frequency = 99;
  plan.call_graph = format::CallGraph::kStack;
  plan.stack_size = 32768;
  plan.inherit = !system_wide;
  plan.system_wide = system_wide;
  plan.count_lost = false;
  return plan;
}

Capability try_event(const std::string& title, const std::string& event_name, bool with_kernel,
                     bool system_wide) {
  Result<EventName> name = parse_event_name(event_name);
  if (!name.ok()) return {title, name.error().message, false, ""};
  perf_event_attr attr = sampling_attr({name.value(), with_kernel}, usual_plan(system_wide));
  int32_t pid = system_wide ? -1 : 0;
  int32_t cpu = system_wide ? static_cast<int32_t>(online_cpus().front()) : -1;
  int error = open_event(attr, pid, cpu).error;
  if (error == 0) return {title, "works", true, ""};
  return {title, "does not work", false, explain_refusal(error, attr, pid)};
}

Capability paranoid() {
  std::string name = "kernel.perf_event_paranoid";
  auto level = sysctl_number("kernel/perf_event_paranoid");
  if (!level)
    return {name, "absent: no perf events in this kernel", false, "use a kernel with CONFIG_PERF_EVENTS"};
  std::string number = std::to_string(*level) + ": ";
  if (may_monitor()) return {name, number + "does not apply, jitprof has CAP_PERFMON", true, ""};
  if (*level <= 0) return {name, number + "everything allowed", true, ""};
  if (*level == 1) return {name, number + "own processes with their kernel part, no -a", true, ""};
  if (*level == 2) {
    return {name, number + "own processes without their kernel part, no -a", true, ""};
  }
  return {name, number + "nothing allowed", false, "sudo sysctl kernel.perf_event_paranoid=1"};
}

Capability locked_memory() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  std::string state =
      "kernel.perf_event_mlock_kb " +
      std::to_string(sysctl_number("kernel/perf_event_mlock_kb").value_or(0)) + ", RLIMIT_MEMLOCK " +
      (limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur / 1024) + " KiB");
  OpenedEvent holder = open_event(ring_holder_attr(), 0, static_cast<int32_t>(online_cpus().front()));
  int error = holder.error;
  if (error == 0) PerfRing ring(std::move(holder.fd), kUsualRing, error);
  if (error == 0) return {"memory for rings", state + ": 16 MiB per CPU work", true, ""};
  return {"memory for rings", state + ": no ring of 16 MiB", false,
          "sudo sysctl kernel.perf_event_mlock_kb=16388, or ulimit -l unlimited"};
}

Capability sample_rate() {
  auto rate = sysctl_number("kernel/perf_event_max_sample_rate");
  std::string state = rate ? std::to_string(*rate) + " Hz" : "unknown";
  bool is_ok = !rate || *rate >= 999;
  return {"kernel.perf_event_max_sample_rate", state, is_ok,
          is_ok ? "" : "sudo sysctl kernel.perf_event_max_sample_rate=10000, or a lower -F"};
}

Capability frame_pointer_depth() {
  auto depth = sysctl_number("kernel/perf_event_max_stack");
  return {"kernel.perf_event_max_stack",
          (depth ? std::to_string(*depth) : std::string("unknown")) + " frames with --call-graph fp", true,
          ""};
}

Capability kernel_symbols() {
  std::string symbols = read_small_file("/proc/kallsyms").value_or("");
  // A hidden place reads as zeros.
  bool is_ok = symbols.find("T _stext\n") != std::string::npos &&
               symbols.find("0000000000000000 T _stext\n") == std::string::npos;
  std::string state =
      "kernel.kptr_restrict " + std::to_string(sysctl_number("kernel/kptr_restrict").value_or(0));
  return {"kernel symbols", state + (is_ok ? ": readable" : ": hidden, kernel frames stay nameless"), is_ok,
          is_ok ? "" : "run as root, or sudo sysctl kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1"};
}

Capability open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  bool is_ok = limit.rlim_max >= 4096;
  return {"open files",
          std::to_string(limit.rlim_cur) + ", may be raised to " + std::to_string(limit.rlim_max), is_ok,
          is_ok ? "" : "raise the hard limit (ulimit -Hn) to attach to processes with many threads"};
}

Capability held(const std::string& name, unsigned number, const std::string& use) {
  bool is_held = has_capability(number);
  return {name, is_held ? "held" : "not held", is_held || geteuid() == 0,
          is_held ? "" : "needed to " + use + ": run as root or with setpriv/capsh"};
}

Capability ptrace_scope() {
  std::string name = "kernel.yama.ptrace_scope";
  auto scope = sysctl_number("kernel/yama/ptrace_scope");
  if (!scope || *scope == 0) return {name, "attaching to own processes is allowed", true, ""};
  bool is_ok = has_capability(CAP_SYS_PTRACE);
  return {
      name,
      std::to_string(*scope) + (is_ok ? ": does not apply, CAP_SYS_PTRACE is held" : ": -p is restricted"),
      is_ok, is_ok ? "" : "sudo sysctl kernel.yama.ptrace_scope=0 to attach with -p"};
}

Capability seccomp() {
  bool is_filtered = has_seccomp_filter();
  return {"seccomp", is_filtered ? "a filter is on, as in containers" : "no filter", true, ""};
}

}  // namespace

std::vector<Capability> examine_machine() {
  utsname machine{};
  uname(&machine);
  return {
      {"kernel", std::string(machine.release) + " " + machine.machine, true, ""},
      try_event("hardware cycles", "cycles", false, false),
      try_event("cpu-clock, stamped with CLOCK_MONOTONIC", "cpu-clock", false, false),
      try_event("kernel part of samples", "cpu-clock", true, false),
      try_event("system-wide (-a)", "cpu-clock", true, true),
      paranoid(),
      locked_memory(),
      sample_rate(),
      frame_pointer_depth(),
      kernel_symbols(),
      open_files(),
      held("CAP_PERFMON or CAP_SYS_ADMIN", has_capability(CAP_PERFMON) ? CAP_PERFMON : CAP_SYS_ADMIN,
           "record other users' processes, the kernel, and with -a"),
      held("CAP_SYS_PTRACE", CAP_SYS_PTRACE, "see mappings of other users' processes"),
      ptrace_scope(),
      seccomp(),
  };
}

}  // namespace jitprof
