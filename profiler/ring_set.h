// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiler/perf_event.h"
#include "profiler/perf_ring.h"

namespace jitprof {

// The rings of all CPUs, of one size.
struct RingSet {
  std::vector<uint32_t> cpus;
  std::vector<PerfRing> rings;  // of cpus[i]
};

// Opens a ring per online CPU: room for 0.5 s of samples, at most 64 MiB per CPU and 1/16 of memory in all.
// Where memory locking forbids that, smaller rings are taken, and if they would hold too few samples
// plan.stack_size goes down to 8 KiB; one line to on_note says so.
Result<RingSet> open_rings(SamplingPlan& plan, uint32_t event_count,
                           const std::function<void(const std::string&)>& on_note);

}  // namespace jitprof
