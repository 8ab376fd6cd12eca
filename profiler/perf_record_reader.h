// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profiler/perf_inflater.h"
#include "profiler/record_buffers.h"

namespace jitprof {

// One record of a perf.data, still encoded.
struct PerfRecord {
  uint32_t type = 0;
  Bytes bytes;          // with its header
  BufferId buffer;      // that holds the bytes; none when they are the file's
  uint64_t offset = 0;  // in the file, of the record or of the COMPRESSED record that it came in
};

// Goes through the records of a perf.data's data section, compressed ones included.
class PerfRecordReader {
 public:
  // `file` is all there is of the file, `end` where the records should end. With `may_be_torn` the file was
  // not finished, so that a record cut by its end is no damage.
  PerfRecordReader(std::string name, Bytes file, uint64_t begin, uint64_t end, bool may_be_torn,
                   RecordBuffers& buffers);

  // nullopt at the end. An error stays.
  Result<std::optional<PerfRecord>> next();
  // Skips bytes behind the record just given that belong to it but are not counted in its size.
  void skip(uint64_t bytes);
  // The file ended inside a record, and may do so.
  bool is_torn() const { return is_torn_; }

 private:
  Result<std::optional<PerfRecord>> next_in_file();
  Result<std::optional<PerfRecord>> end_of_records();

  std::string name_;
  Bytes file_;
  uint64_t offset_;
  uint64_t end_;
  bool may_be_torn_;
  bool is_torn_ = false;
  uint64_t compressed_offset_ = 0;  // of the COMPRESSED record being inflated
  PerfInflater inflater_;
  std::optional<Error> failure_;
};

}  // namespace jitprof
