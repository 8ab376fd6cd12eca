// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "profiler/event_set.h"
#include "profiler/recording_writer.h"

namespace jitprof {

// Turns PERF_RECORD_SAMPLEs into sample records: fields rearranged, the stack cut at the bytes the kernel
// really copied. The padding behind them is 20 times the stack in a usual program; it is never touched.
// Allocates nothing and copies each stack once.
class SampleCopier {
 public:
  SampleCopier(const EventSet& events, const SamplingPlan& plan, RecordingWriter& writer);

  // `record` is one whole record of the ring.
  void copy(Bytes record);

  uint64_t samples() const { return samples_; }
  // Whether any sample so far hit the kernel or came through it.
  bool saw_kernel() const { return saw_kernel_; }

 private:
  struct Fields;
  bool read(Bytes record, Fields& fields) const;
  bool read_stack(ByteReader& reader, Fields& fields) const;
  void write(const Fields& fields);

  const EventSet& events_;
  RecordingWriter& writer_;
  bool is_stack_;
  bool system_wide_;
  uint32_t own_pid_;
  uint64_t samples_ = 0;
  bool saw_kernel_ = false;
};

}  // namespace jitprof
