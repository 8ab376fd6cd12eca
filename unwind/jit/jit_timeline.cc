// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/jit_timeline.h"

#include <algorithm>
#include <utility>

namespace jitprof {

void JitTimeline::add(JitLog log) {
  if (log.changes.empty()) return;
  next_ns_ = std::min(next_ns_, log.changes.front().time_ns);
  waiting_.push_back({std::move(log)});
}

void JitTimeline::apply_due(uint64_t time_ns, ProcessTable& processes) {
  next_ns_ = UINT64_MAX;
  for (Waiting& waiting : waiting_) {
    const std::vector<JitChange>& changes = waiting.log.changes;
    for (; waiting.next < changes.size() && changes[waiting.next].time_ns <= time_ns; ++waiting.next)
      processes.apply(changes[waiting.next], waiting.log.codes);
    if (waiting.next < changes.size()) next_ns_ = std::min(next_ns_, changes[waiting.next].time_ns);
  }
}

size_t JitTimeline::code_count() const {
  size_t count = 0;
  for (const Waiting& waiting : waiting_) count += waiting.log.codes.size();
  return count;
}

}  // namespace jitprof
