// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "profiler/event.h"
#include "profiler/format.h"
#include "profiler/kernel_record.h"
#include "profiler/recording.h"

namespace jitprof {

// Decodes the records of a recording of our own (FORMAT.md). Learns the events from the header record, which
// comes first.
class ChunkRecordDecoder {
 public:
  // Fills in what the header record says; false when it is malformed.
  bool read_header(Bytes record, RecordingHeader& header);

  enum class Outcome { kEvent, kIgnored, kMalformed };
  // `record` begins with its RecordHead and is of a type that makes an event. Views in `event` live as long
  // as the record's bytes and until the next call.
  Outcome decode(Bytes record, Event& event);

  // True when the sample decoded last was of 32-bit code, whose registers are left out.
  bool was_32_bit() const { return was_32_bit_; }

 private:
  bool read_event(ByteReader& reader, RecordingHeader& header);
  Outcome decode_kernel(Bytes record, Event& event);
  Outcome decode_sample(Bytes record, Event& event);

  std::vector<RecordLayout> layouts_;
  KernelRecordDecoder kernel_;
  std::vector<RuntimeAddr> kernel_chain_;
  std::vector<RuntimeAddr> user_chain_;
  bool was_32_bit_ = false;
};

}  // namespace jitprof
