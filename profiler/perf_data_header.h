// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/build_id.h"
#include "base/byte_reader.h"
#include "base/result.h"
#include "profiler/perf_data_events.h"
#include "profiler/recording.h"

namespace jitprof {

// What a perf.data says of the whole recording: in its file header and the feature sections behind the data
// or, in pipe mode, in records. Damaged descriptions are left out; what cannot be read at all is an error.
class PerfDataHeader {
 public:
  explicit PerfDataHeader(std::string name) : name_(std::move(name)) {}

  // Where the records of a file are.
  struct DataSection {
    uint64_t begin = 0;
    uint64_t end = 0;  // as stated; may lie beyond the end of a cut file
    bool is_finished =
        false;  // else perf was killed before it wrote the size, and records go on to the file's end
    bool has_descriptions = true;  // false: the file was cut inside its feature sections
  };
  // Reads the file header, events and features. Errors: damaged, or of a kind that is not read.
  Result<DataSection> read_file_header(Bytes file);

  // Takes in a record of perf's own that describes the recording; others are ignored.
  Status apply_record(Bytes record, uint64_t offset);

  // Fills in everything known so far.
  void describe(RecordingHeader& header);
  // Whether the whole can be read at all, as far as is known: architecture, compression.
  Status check() const;

  const PerfDataEvents& events() const { return events_; }
  // The build-id of the file at a path; empty when unknown or when two files had the path.
  BuildId build_id_of(const std::string& path) const;

 private:
  Status read_attrs(Bytes file, uint64_t attr_size, uint64_t offset, uint64_t size);
  // False when one of them is not wholly in the file.
  bool read_features(Bytes file, uint64_t table, const uint64_t (&bits)[4]);
  void apply_feature(uint32_t feature, Bytes payload);
  void apply_build_ids(ByteReader reader);
  void apply_build_id(Bytes record);
  void apply_event_desc(ByteReader reader);

  std::string name_;
  RecordingHeader header_;
  PerfDataEvents events_;
  std::map<std::string, BuildId> build_ids_;
  uint32_t compression_ = kZstd;
  static constexpr uint32_t kZstd = 1;
};

}  // namespace jitprof
