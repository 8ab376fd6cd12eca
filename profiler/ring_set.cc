// SPDX-License-Identifier: Apache-2.0
#include "profiler/ring_set.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "profiler/machine_limits.h"

namespace jitprof {
namespace {

constexpr uint64_t kLargestRing = 64u << 20;
constexpr uint32_t kSmallStack = 8192;
// Fewer samples than this in a ring, and a moment of the recorder not running loses some.
constexpr uint64_t kFewestSamples = 32;

// Bytes of a sample record in the ring; the whole asked stack counts, however little of it is in use.
uint64_t record_bytes(const SamplingPlan& plan) {
  constexpr uint64_t kFixedFields = 80;
  constexpr uint64_t kRegisters = 8 + 8 * 20;
  constexpr uint64_t kChain = 8 * 32;
  uint64_t bytes = kFixedFields + kChain;
  if (plan.call_graph == format::CallGraph::kStack) bytes += kRegisters + plan.stack_size + 16;
  return bytes;
}

uint64_t wanted_bytes(const SamplingPlan& plan, uint32_t event_count, size_t cpu_count) {
  uint64_t half_second = plan.frequency * event_count * record_bytes(plan) / 2;
  uint64_t limit = std::min(kLargestRing, memory_bytes() / 16 / cpu_count);
  uint64_t smallest = 64u << 10;
  // The nearest power of two.
  uint64_t wanted = std::bit_floor(std::max(half_second + half_second / 3, smallest));
  return std::max(std::min(wanted, std::bit_floor(std::max(limit, smallest))),
                  static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

// 0, or the errno of what failed.
int try_size(uint64_t bytes, RingSet& set) {
  set.rings.clear();
  std::vector<uint32_t> opened;
  for (uint32_t cpu : set.cpus) {
    OpenedEvent holder = open_event(ring_holder_attr(), 0, static_cast<int32_t>(cpu));
    if (holder.error == ENODEV) continue;  // went offline since the list was read
    if (holder.error != 0) return holder.error;
    int error = 0;
    PerfRing ring(std::move(holder.fd), bytes, error);
    if (error != 0) return error;
    set.rings.push_back(std::move(ring));
    opened.push_back(cpu);
  }
  set.cpus = std::move(opened);
  return 0;
}

std::string lock_limits() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  std::string locked =
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur / 1024) + " KiB";
  return "kernel.perf_event_mlock_kb is " +
         std::to_string(sysctl_number("kernel/perf_event_mlock_kb").value_or(0)) + ", RLIMIT_MEMLOCK is " +
         locked;
}

std::string kib(uint64_t bytes) { return std::to_string(bytes / 1024) + " KiB"; }

}  // namespace

Result<RingSet> open_rings(SamplingPlan& plan, uint32_t event_count,
                           const std::function<void(const std::string&)>& on_note) {
  RingSet set;
  set.cpus = online_cpus();
  uint64_t wanted = wanted_bytes(plan, event_count, set.cpus.size());
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t bytes = wanted;
  int error = try_size(bytes, set);
  while ((error == EPERM || error == ENOMEM) && bytes > page) {
    bytes /= 2;
    error = try_size(bytes, set);
  }
  if (error == EPERM || error == ENOMEM) {
    return Error{"memory for the sample rings cannot be locked (" + lock_limits() +
                 "): raise the limit with 'sudo sysctl kernel.perf_event_mlock_kb=4096' or 'ulimit -l'"};
  }
  if (error != 0) return Error{"cannot open a ring: " + explain_refusal(error, ring_holder_attr(), 0)};
  if (set.rings.empty()) return Error{"no CPU is online for a ring"};
  if (bytes == wanted) return set;
  std::string note = "rings of " + kib(bytes) + " instead of " + kib(wanted) + " per CPU";
  if (plan.stack_size > kSmallStack && bytes < kFewestSamples * record_bytes(plan)) {
    note += ", stacks of " + kib(kSmallStack) + " instead of " + kib(plan.stack_size);
    plan.stack_size = kSmallStack;
  }
  note += ": memory locking is limited (" + lock_limits() +
          "; 'sudo sysctl kernel.perf_event_mlock_kb=" + std::to_string(wanted / 1024 + page / 1024) +
          "' or 'ulimit -l' raises it)";
  if (on_note) on_note(note);
  return set;
}

}  // namespace jitprof
