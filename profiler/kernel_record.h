// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "profiler/event.h"

namespace jitprof {

// What of a perf_event_attr decides how the kernel lays out the event's records.
struct RecordLayout {
  uint64_t sample_type = 0;
  uint64_t read_format = 0;
  uint64_t branch_sample_type = 0;
  uint64_t user_registers = 0;
  uint64_t fixed_period = 0;  // the period of samples that do not carry one
  bool sample_id_all = false;

  // `attr` as it stands in a file: of another kernel's size, cut or filled up with zeros.
  static RecordLayout of(const perf_event_attr& attr);
  // perf_event_attr from bytes that may be shorter (older kernel) or longer (newer one).
  static perf_event_attr read_attr(Bytes bytes);

  // The id of the event that a record belongs to, 0 when the record does not say.
  uint64_t id_of(Bytes record) const;
};

// Decodes single records of the perf ring (linux/perf_event.h, "enum perf_event_type"), which are the records
// of perf.data and are kept verbatim in recordings of our own.
class KernelRecordDecoder {
 public:
  enum class Outcome {
    kEvent,
    kIgnored,    // a kind that says nothing we use
    kUnknown,    // a kind that this reader does not know
    kMalformed,  // shorter than its own fields
    kAuxTrace,   // hardware trace, which cannot be read
  };

  // `record` begins with its perf_event_header. Views in `event` live as long as the record's bytes and until
  // the next call. Sample::event is left 0.
  Outcome decode(Bytes record, const RecordLayout& layout, Event& event);

  // True when the sample decoded last was of 32-bit code, whose registers are left out.
  bool was_32_bit() const { return was_32_bit_; }

 private:
  Outcome decode_sample(uint16_t misc, Bytes body, const RecordLayout& layout, Event& event);
  bool read_chain(ByteReader& reader, bool starts_in_kernel);
  bool read_registers_and_stack(ByteReader& reader, const RecordLayout& layout, Sample& sample);

  std::vector<RuntimeAddr> kernel_chain_;
  std::vector<RuntimeAddr> user_chain_;
  bool was_32_bit_ = false;
};

}  // namespace jitprof
