// SPDX-License-Identifier: Apache-2.0
#include "profiler/event_set.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace jitprof {
namespace {

bool is_denied(int error) { return error == EACCES || error == EPERM; }

bool is_absent(int error) { return error == ENOENT || error == ENODEV || error == EOPNOTSUPP; }

// Opens the event on ourselves, leaving out the kernel's part if that is refused and the count of losses if
// the kernel is older. 0 or the errno of the last try.
int probe(SamplingEvent& event, SamplingPlan& plan) {
  SamplingPlan alone = plan;
  alone.start_on_exec = false;
  while (true) {
    alone.count_lost = plan.count_lost;
    int error = open_event(sampling_attr(event, alone), 0, -1).error;
    if (is_denied(error) && event.with_kernel && !event.name.kernel_only) {
      event.with_kernel = false;
    } else if (error == EINVAL && plan.count_lost) {
      plan.count_lost = false;
    } else {
      return error;
    }
  }
}

}  // namespace

Result<std::vector<SamplingEvent>> choose_events(const std::vector<std::string>& names, SamplingPlan& plan,
                                                 const std::function<void(const std::string&)>& on_note) {
  std::vector<SamplingEvent> chosen;
  for (const std::string& text : names.empty() ? std::vector<std::string>{"cycles"} : names) {
    EventName name = JP_TRY(parse_event_name(text));
    SamplingEvent event{name, !name.user_only};
    int error = probe(event, plan);
    if (is_absent(error) && names.empty()) {
      event = {JP_TRY(parse_event_name("cpu-clock")), true};
      error = probe(event, plan);
      if (error == 0 && on_note) on_note("no hardware counter for cycles here: recording cpu-clock");
    }
    if (error != 0) {
      return Error{"cannot record '" + text + "': " + explain_refusal(error, sampling_attr(event, plan), 0)};
    }
    if (!event.with_kernel && !name.user_only && chosen.empty() && on_note) {
      on_note(
          "kernel frames are left out: as root, or with 'sudo sysctl kernel.perf_event_paranoid=1', they are "
          "kept");
    }
    for (const SamplingEvent& other : chosen) {
      if (other.name.name == event.name.name) return Error{"event '" + text + "' is asked for twice"};
    }
    chosen.push_back(event);
  }
  return chosen;
}

EventSet::EventSet(std::vector<SamplingEvent> events, const SamplingPlan& plan)
    : events_(std::move(events)),
      side_band_(side_band_attr(plan)),
      count_lost_(plan.count_lost),
      ids_(events_.size()) {
  for (const SamplingEvent& event : events_) attrs_.push_back(sampling_attr(event, plan));
}

Result<bool> EventSet::open_one(const perf_event_attr& attr, const std::string& name, int32_t tid,
                                uint32_t cpu, const PerfRing& ring, std::vector<Fd>& list, uint64_t& id) {
  OpenedEvent opened = open_event(attr, tid, static_cast<int32_t>(cpu));
  if (opened.error == ESRCH && tid > 0) return false;
  if (opened.error != 0) {
    return Error{"cannot record '" + name + "': " + explain_refusal(opened.error, attr, tid)};
  }
  if (ioctl(opened.fd.number(), PERF_EVENT_IOC_SET_OUTPUT, ring.fd()) != 0 ||
      ioctl(opened.fd.number(), PERF_EVENT_IOC_ID, &id) != 0) {
    return Error{"cannot record '" + name + "': the kernel does not redirect it: " + std::strerror(errno)};
  }
  list.push_back(std::move(opened.fd));
  return true;
}

Result<bool> EventSet::open_for(int32_t tid, const RingSet& rings) {
  for (size_t cpu = 0; cpu < rings.rings.size(); ++cpu) {
    for (uint32_t event = 0; event < attrs_.size(); ++event) {
      uint64_t id = 0;
      if (!JP_TRY(open_one(attrs_[event], events_[event].name.name, tid, rings.cpus[cpu], rings.rings[cpu],
                           samplers_, id))) {
        return false;
      }
      ids_[event].push_back(id);
      event_by_id_.emplace(id, event);
    }
  }
  // Last, so that whoever sees a FORK record knows that the sampled events were there to be inherited.
  for (size_t cpu = 0; cpu < rings.rings.size(); ++cpu) {
    uint64_t id = 0;
    if (!JP_TRY(open_one(side_band_, "mappings and threads", tid, rings.cpus[cpu], rings.rings[cpu],
                         side_bands_, id))) {
      return false;
    }
  }
  return true;
}

void EventSet::for_samplers(unsigned long request) {
  for (const Fd& fd : samplers_) ioctl(fd.number(), request, 0);
}

uint32_t EventSet::event_of(uint64_t id) const {
  if (events_.size() == 1) return 0;
  auto found = event_by_id_.find(id);
  return found == event_by_id_.end() ? 0 : found->second;
}

uint64_t EventSet::count_lost() const {
  if (!count_lost_) return 0;
  struct {
    uint64_t value;
    uint64_t lost;
  } counts;
  uint64_t lost = 0;
  for (const std::vector<Fd>* list : {&samplers_, &side_bands_}) {
    for (const Fd& fd : *list) {
      if (read(fd.number(), &counts, sizeof counts) == sizeof counts) lost += counts.lost;
    }
  }
  return lost;
}

}  // namespace jitprof
