// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "base/byte_reader.h"
#include "profiler/record_buffers.h"

namespace jitprof {

// A record that waits for its turn.
struct HeldRecord {
  uint64_t time_ns = 0;
  Bytes bytes;
  uint32_t event = 0;  // whose layout decodes it
  BufferId buffer;     // that `bytes` views; none for the mapped file
};

// Puts the records of several rings into one order of time. Between two marks records come in the order of
// the rings; a mark says up to which time everything has been read. Owns the buffers that held records view.
class EventOrder {
 public:
  RecordBuffers& buffers() { return buffers_; }

  // Records of one time keep the order in which they were held. Time 0 is "no time": due at once.
  void hold(const HeldRecord& record);
  // From now on everything up to this time is due. Never goes back.
  void release_up_to(uint64_t time_ns);
  void release_all() { release_up_to(UINT64_MAX); }

  // The oldest record that is due; nullptr when none is. Stays valid until the next call, and what it views
  // until drop_handed_out. More held than kMaxHeld makes the oldest due early.
  const HeldRecord* next();
  // Of the records handed out so far, nothing is needed any more.
  void drop_handed_out();

  uint64_t last_time_ns() const { return last_time_ns_; }
  // Records that came after younger ones had been handed out.
  uint64_t late_count() const { return late_count_; }

 private:
  struct Waiting {
    HeldRecord record;
    uint64_t sequence = 0;
  };
  struct IsYounger {
    bool operator()(const Waiting& one, const Waiting& other) const {
      if (one.record.time_ns != other.record.time_ns) return one.record.time_ns > other.record.time_ns;
      return one.sequence > other.sequence;
    }
  };
  // Two rounds of 64 full rings of 512 KiB are about 660,000 small records and 64 MiB.
  static constexpr uint64_t kMaxHeldRecords = 2'000'000;
  static constexpr uint64_t kMaxHeldBytes = 256u << 20;
  bool is_full() const;

  RecordBuffers buffers_;
  std::priority_queue<Waiting, std::vector<Waiting>, IsYounger> waiting_;
  HeldRecord handed_out_;
  std::vector<BufferId> viewed_;  // by records handed out
  uint64_t sequence_ = 0;
  uint64_t due_up_to_ns_ = 0;
  uint64_t last_time_ns_ = 0;
  uint64_t late_count_ = 0;
};

}  // namespace jitprof
