// SPDX-License-Identifier: Apache-2.0
#include "profiler/event_order.h"

#include <algorithm>

namespace jitprof {

void EventOrder::hold(const HeldRecord& record) {
  if (record.time_ns != 0 && record.time_ns < last_time_ns_) ++late_count_;
  buffers_.hold(record.buffer);
  waiting_.push({record, sequence_++});
}

void EventOrder::release_up_to(uint64_t time_ns) { due_up_to_ns_ = std::max(due_up_to_ns_, time_ns); }

bool EventOrder::is_full() const {
  return waiting_.size() > kMaxHeldRecords || buffers_.byte_count() > kMaxHeldBytes;
}

const HeldRecord* EventOrder::next() {
  if (waiting_.empty()) return nullptr;
  if (waiting_.top().record.time_ns > due_up_to_ns_ && !is_full()) return nullptr;
  handed_out_ = waiting_.top().record;
  waiting_.pop();
  if (!handed_out_.buffer.is_none()) viewed_.push_back(handed_out_.buffer);
  last_time_ns_ = std::max(last_time_ns_, handed_out_.time_ns);
  return &handed_out_;
}

void EventOrder::drop_handed_out() {
  for (BufferId buffer : viewed_) buffers_.drop(buffer);
  viewed_.clear();
}

}  // namespace jitprof
