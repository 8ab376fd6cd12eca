// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

#include "profiler/event_name.h"
#include "profiler/fd.h"
#include "profiler/format.h"

namespace jitprof {

// All general registers of x86-64: PERF_REG_X86_* without DS, ES, FS, GS, which the kernel refuses.
inline constexpr uint64_t kUserRegisterMask = 0xff0fff;
// The fields of every event's records, and so the one layout of the sample_id trailer: tid, time, cpu,
// identifier, 8 bytes each.
inline constexpr uint64_t kTrailerFields =
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
inline constexpr uint32_t kTrailerBytes = 32;

// What all events of one recording have in common.
struct SamplingPlan {
  uint64_t frequency = 0;
  format::CallGraph call_graph = format::CallGraph::kNone;
  uint32_t stack_size = 0;  // bytes the kernel is asked to copy per sample
  bool inherit = true;
  bool system_wide = false;
  bool start_on_exec = false;
  bool count_lost = true;  // PERF_FORMAT_LOST, Linux 6.0
};

// One sampled event as it will be opened: what was named and whether the kernel's part may be seen.
struct SamplingEvent {
  EventName name;
  bool with_kernel = true;
};

perf_event_attr sampling_attr(const SamplingEvent& event, const SamplingPlan& plan);
// A dummy event that brings MMAP2, COMM, FORK and EXIT, enabled from the start, so that they are there even
// while sampling is delayed.
perf_event_attr side_band_attr(const SamplingPlan& plan);
// A dummy event on ourselves that does nothing but hold a CPU's ring. A ring held by an event of the target
// would report POLLHUP for good once that thread ends.
perf_event_attr ring_holder_attr();

struct OpenedEvent {
  Fd fd;
  int error = 0;  // errno when fd is none
};
// pid 0: ourselves, -1: everything; cpu -1: any.
OpenedEvent open_event(const perf_event_attr& attr, int32_t pid, int32_t cpu);

// Why perf_event_open failed, with the fix: one clause to put behind the name of what was to be opened.
std::string explain_refusal(int error, const perf_event_attr& attr, int32_t pid);

}  // namespace jitprof
