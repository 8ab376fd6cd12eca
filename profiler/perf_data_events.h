// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/kernel_record.h"
#include "profiler/recording.h"

namespace jitprof {

// The events of one perf.data: whose ids are in which records, and how these are laid out.
class PerfDataEvents {
 public:
  // `ids` holds 8 bytes per id. False when there are more ids or events than any perf writes.
  bool add(const perf_event_attr& attr, Bytes ids);
  // The name that perf gives the event of this id, or, without an id, the index-th event.
  void rename(std::optional<uint64_t> id, uint32_t index, std::string_view name);

  size_t size() const { return events_.size(); }
  // The event that a record belongs to; nullopt when its id was never announced.
  std::optional<uint32_t> find(Bytes record) const;
  const RecordLayout& layout(uint32_t event) const { return events_[event].layout; }
  // Index into RecordingHeader::events; nullopt for the dummy event, which carries mappings and never
  // samples.
  std::optional<uint32_t> sampled_index(uint32_t event) const { return events_[event].sampled_index; }

  // Fills in what the events say: events, clock_is_monotonic, call_graph, stack_size.
  void describe(RecordingHeader& header);
  // True when the registers asked for are not those of x86-64.
  bool has_foreign_registers() const;

 private:
  struct PerfDataEvent {
    perf_event_attr attr;
    RecordLayout layout;
    std::string name;
    std::optional<uint32_t> sampled_index;
  };
  std::vector<PerfDataEvent> events_;
  std::unordered_map<uint64_t, uint32_t> by_id_;
  size_t id_count_ = 0;
};

}  // namespace jitprof
