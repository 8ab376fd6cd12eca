// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "profiler/perf_event.h"
#include "profiler/ring_set.h"

namespace jitprof {

// Finds out by opening each event on ourselves what this machine gives: `names` as the user wrote them, or
// none for the default, cycles else cpu-clock. Kernel parts that are refused are left out. Sets
// plan.count_lost.
Result<std::vector<SamplingEvent>> choose_events(const std::vector<std::string>& names, SamplingPlan& plan,
                                                 const std::function<void(const std::string&)>& on_note);

// The opened events of one recording: for each target and CPU every sampled event and one side-band event,
// all redirected to the CPU's ring. Owns their descriptors.
class EventSet {
 public:
  EventSet(std::vector<SamplingEvent> events, const SamplingPlan& plan);

  // Opens all for a thread (-1: everything). false when there is no such thread (any more).
  Result<bool> open_for(int32_t tid, const RingSet& rings);
  // Sampling only; the side band runs from the start. 0 or the errno.
  void enable() { for_samplers(PERF_EVENT_IOC_ENABLE); }
  void disable() { for_samplers(PERF_EVENT_IOC_DISABLE); }

  // Index of the event a kernel-given id belongs to.
  uint32_t event_of(uint64_t id) const;
  // Records the kernel could not write; 0 where it does not count them (before Linux 6.0).
  uint64_t count_lost() const;

  const std::vector<SamplingEvent>& events() const { return events_; }
  const std::vector<perf_event_attr>& attrs() const { return attrs_; }
  // By event, in order of opening.
  const std::vector<std::vector<uint64_t>>& ids() const { return ids_; }

 private:
  void for_samplers(unsigned long request);
  Result<bool> open_one(const perf_event_attr& attr, const std::string& name, int32_t tid, uint32_t cpu,
                        const PerfRing& ring, std::vector<Fd>& list, uint64_t& id);

  std::vector<SamplingEvent> events_;
  std::vector<perf_event_attr> attrs_;
  perf_event_attr side_band_;
  bool count_lost_;
  std::vector<std::vector<uint64_t>> ids_;
  std::unordered_map<uint64_t, uint32_t> event_by_id_;
  std::vector<Fd> samplers_;
  std::vector<Fd> side_bands_;
};

}  // namespace jitprof
