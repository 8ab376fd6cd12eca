// SPDX-License-Identifier: Apache-2.0
#include "profiler/perf_data_events.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

namespace jitprof {
namespace {

// Attaching to 1,000 threads on 256 CPUs takes 256,000 ids per event.
constexpr size_t kMaxIds = 4'000'000;
constexpr size_t kMaxEvents = 2048;

constexpr const char* kHardware[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
constexpr const char* kSoftware[] = {"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
                                     "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
                                     "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

std::string default_name(const perf_event_attr& attr) {
  if (attr.type == PERF_TYPE_HARDWARE && attr.config < std::size(kHardware)) return kHardware[attr.config];
  if (attr.type == PERF_TYPE_SOFTWARE && attr.config < std::size(kSoftware)) return kSoftware[attr.config];
  char text[64];
  std::snprintf(text, sizeof text, "event-%u:0x%llx", attr.type,
                static_cast<unsigned long long>(attr.config));
  return text;
}

// "cpu-clock:uhppp" without what perf appends for precision and privilege; "sched:sched_switch" stays.
std::string without_modifiers(const std::string& name) {
  size_t colon = name.rfind(':');
  if (colon == std::string::npos || colon == 0) return name;
  bool is_modifier = name.find_first_not_of("ukhGHpPSDIWeb", colon + 1) == std::string::npos;
  return is_modifier ? name.substr(0, colon) : name;
}

bool is_dummy(const perf_event_attr& attr) {
  return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
}

SampledEvent sampled_event(const perf_event_attr& attr, const std::string& name) {
  SampledEvent event;
  event.name = name;
  event.is_clock = attr.type == PERF_TYPE_SOFTWARE &&
                   (attr.config == PERF_COUNT_SW_CPU_CLOCK || attr.config == PERF_COUNT_SW_TASK_CLOCK);
  (attr.freq ? event.frequency : event.period) = attr.sample_freq;
  event.user_only = attr.exclude_kernel;
  return event;
}

}  // namespace

bool PerfDataEvents::add(const perf_event_attr& attr, Bytes ids) {
  if (events_.size() >= kMaxEvents || ids.size() / 8 > kMaxIds - id_count_) return false;
  id_count_ += ids.size() / 8;
  auto index = static_cast<uint32_t>(events_.size());
  events_.push_back({attr, RecordLayout::of(attr), default_name(attr), std::nullopt});
  for (ByteReader reader(ids); reader.remaining() >= 8;) by_id_.emplace(reader.u64(), index);
  return true;
}

void PerfDataEvents::rename(std::optional<uint64_t> id, uint32_t index, std::string_view name) {
  if (id) {
    auto found = by_id_.find(*id);
    if (found != by_id_.end()) index = found->second;
  }
  if (index < events_.size() && !name.empty()) events_[index].name = name;
}

std::optional<uint32_t> PerfDataEvents::find(Bytes record) const {
  if (events_.empty()) return std::nullopt;
  if (events_.size() == 1) return 0;
  // perf makes sure that the id stands at the same place in the records of all events.
  uint64_t id = events_.front().layout.id_of(record);
  // What perf made up itself carries no id and is laid out like records of the first event.
  if (id == 0) return 0;
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  return found->second;
}

void PerfDataEvents::describe(RecordingHeader& header) {
  header.events.clear();
  header.clock_is_monotonic = !events_.empty();
  header.call_graph = "none";
  std::map<std::string, uint32_t> uses;
  for (const PerfDataEvent& event : events_) ++uses[without_modifiers(event.name)];
  for (PerfDataEvent& event : events_) {
    const perf_event_attr& attr = event.attr;
    if (!attr.use_clockid || attr.clockid != CLOCK_MONOTONIC) header.clock_is_monotonic = false;
    if (is_dummy(attr)) continue;
    std::string name = without_modifiers(event.name);
    // "cycles:u" and "cycles:k" of one recording must stay two.
    if (uses[name] > 1) name = event.name;
    event.sampled_index = static_cast<uint32_t>(header.events.size());
    header.events.push_back(sampled_event(attr, name));
    constexpr uint64_t kStack = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    if ((attr.sample_type & kStack) == kStack) {
      header.call_graph = "stack";
      header.stack_size = std::max<uint64_t>(header.stack_size, attr.sample_stack_user);
    } else if (attr.sample_type & PERF_SAMPLE_CALLCHAIN && header.call_graph == "none") {
      header.call_graph = "fp";
    }
  }
}

bool PerfDataEvents::has_foreign_registers() const {
  // x86 has 24 (asm/perf_regs.h); arm64 asks for 33.
  return std::ranges::any_of(
      events_, [](const PerfDataEvent& event) { return event.attr.sample_regs_user >> 24 != 0; });
}

}  // namespace jitprof
