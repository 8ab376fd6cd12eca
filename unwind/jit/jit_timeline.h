// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "unwind/jit/jit_code.h"
#include "unwind/space/process_table.h"

namespace jitprof {

// What is known of code made at run time, waiting until the events have come to its time. Owns the code,
// which modules refer to until the report ends.
class JitTimeline {
 public:
  // Changes in order of time; those older than what has been applied take effect next.
  void add(JitLog log);

  bool is_due(uint64_t time_ns) const { return time_ns >= next_ns_; }
  // Applies every change up to this time.
  void apply_due(uint64_t time_ns, ProcessTable& processes);

  size_t code_count() const;

 private:
  struct Waiting {
    JitLog log;
    size_t next = 0;  // of its changes
  };
  std::deque<Waiting> waiting_;
  uint64_t next_ns_ = UINT64_MAX;
};

}  // namespace jitprof
