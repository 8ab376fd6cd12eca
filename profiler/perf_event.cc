// SPDX-License-Identifier: Apache-2.0
#include "profiler/perf_event.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profiler/machine_limits.h"

namespace jitprof {
namespace {

perf_event_attr base_attr(uint32_t type, uint64_t config) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = type;
  attr.config = config;
  attr.sample_type = kTrailerFields;
  attr.sample_id_all = 1;
  attr.exclude_hv = 1;
  // One clock for samples, JIT metadata and round marks.
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

std::string explain_permission(const perf_event_attr& attr, int32_t pid) {
  int64_t paranoid = sysctl_number("kernel/perf_event_paranoid").value_or(2);
  if (may_monitor()) {
    if (has_seccomp_filter()) {
      return "a seccomp filter forbids perf_event_open, as containers' default profiles do: allow it with "
             "'--security-opt seccomp=unconfined' or a profile of your own";
    }
    return "the kernel forbids it although jitprof has CAP_PERFMON: a security module or lockdown";
  }
  int64_t allowed = pid == -1 ? 0 : !attr.exclude_kernel ? 1 : 2;
  if (paranoid > allowed) {
    std::string level = std::to_string(allowed);
    return "kernel.perf_event_paranoid is " + std::to_string(paranoid) +
           " and jitprof has no CAP_PERFMON: run 'sudo sysctl kernel.perf_event_paranoid=" + level +
           "', or as root, or in a container with '--cap-add PERFMON'";
  }
  if (has_seccomp_filter()) {
    return "a seccomp filter forbids perf_event_open, as containers' default profiles do: allow it with "
           "'--security-opt seccomp=unconfined' or '--cap-add PERFMON'";
  }
  if (pid > 0) {
    return "process " + std::to_string(pid) +
           " belongs to another user or is protected (kernel.yama.ptrace_scope): run as root or with "
           "CAP_PERFMON and CAP_SYS_PTRACE";
  }
  return "permission denied: run as root or with CAP_PERFMON";
}

std::string explain_file_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return "the limit of " + std::to_string(limit.rlim_cur) +
         " open files is reached (threads × CPUs × events are needed): raise it with 'ulimit -n', or attach "
         "with -a";
}

}  // namespace

perf_event_attr sampling_attr(const SamplingEvent& event, const SamplingPlan& plan) {
  perf_event_attr attr = base_attr(event.name.type, event.name.config);
  attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
  attr.freq = 1;
  attr.sample_freq = plan.frequency;
  attr.disabled = 1;
  attr.enable_on_exec = plan.start_on_exec;
  attr.inherit = plan.inherit;
  attr.exclude_kernel = !event.with_kernel;
  attr.exclude_user = event.name.kernel_only;
  // Only the clocks go on counting while a CPU is idle.
  attr.exclude_idle = plan.system_wide && event.name.type == PERF_TYPE_SOFTWARE;
  if (plan.count_lost) attr.read_format = PERF_FORMAT_LOST;
  bool is_stack = plan.call_graph == format::CallGraph::kStack;
  // In stack mode the kernel walks its own part only; the user part is unwound from the copied stack.
  if (plan.call_graph == format::CallGraph::kFramePointer || (is_stack && event.with_kernel)) {
    attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    attr.exclude_callchain_user = is_stack;
    attr.exclude_callchain_kernel = !event.with_kernel;
  }
  if (is_stack) {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = kUserRegisterMask;
    attr.sample_stack_user = plan.stack_size;
  }
  return attr;
}

perf_event_attr side_band_attr(const SamplingPlan& plan) {
  perf_event_attr attr = base_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.exclude_kernel = 1;
  attr.inherit = plan.inherit;
  if (plan.count_lost) attr.read_format = PERF_FORMAT_LOST;
  return attr;
}

perf_event_attr ring_holder_attr() {
  perf_event_attr attr = base_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  attr.disabled = 1;
  return attr;
}

OpenedEvent open_event(const perf_event_attr& attr, int32_t pid, int32_t cpu) {
  long fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return {Fd(), errno};
  return {Fd(static_cast<int>(fd)), 0};
}

std::string explain_refusal(int error, const perf_event_attr& attr, int32_t pid) {
  switch (error) {
    case EACCES:
    case EPERM:
      return explain_permission(attr, pid);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      if (attr.type == PERF_TYPE_HARDWARE) {
        return "this machine has no such hardware counter (virtual machines often have none): use -e "
               "cpu-clock";
      }
      return "this kernel does not have it";
    case EMFILE:
      return explain_file_limit();
    case ENFILE:
      return "the machine's limit of open files is reached: raise it with 'sudo sysctl fs.file-max=…'";
    case ESRCH:
      return "there is no process " + std::to_string(pid);
    case ENOSYS:
      return "this kernel is built without perf events (CONFIG_PERF_EVENTS), or a sandbox hides them";
    case EBUSY:
      return "another profiler has the counter for itself";
    case E2BIG:
    case EINVAL:
      return "this kernel does not know what is asked of it: Linux 4.1 or newer is needed";
    default:
      return std::strerror(error);
  }
}

}  // namespace jitprof
