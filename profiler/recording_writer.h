// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profiler/chunk_codec.h"
#include "profiler/format.h"
#include "profiler/output_file.h"

namespace jitprof {

// Gathers records into chunks and appends whole chunks to the output. The first failure to write is kept and
// everything after it dropped: the recorder asks for it once per round instead of at every record.
class RecordingWriter {
 public:
  explicit RecordingWriter(OutputFile output);

  // Writes the file header; before any record.
  void begin();

  // Room for a record of `size` bytes with its head, rounded up to 8 and at most kMaxChunkBytes; the head is
  // filled in and the padding zeroed, everything else is the caller's to write, at once. `contents` is what
  // the record means to a ChunkHeader.
  std::byte* append(format::RecordType type, uint64_t size, uint32_t contents = 0);
  template <class Struct>
  void append(format::RecordType type, Struct record) {
    std::byte* place = append(type, sizeof record);
    constexpr size_t kHead = sizeof(format::RecordHead);
    std::memcpy(place + kHead, reinterpret_cast<const std::byte*>(&record) + kHead, sizeof record - kHead);
  }

  // When the open chunk's first record will be `age_ns` old; never if there is no record.
  uint64_t chunk_due_ns(uint64_t age_ns) const { return used_ == 0 ? UINT64_MAX : first_record_ns_ + age_ns; }
  // Writes out the open chunk, if it has a record.
  void close_chunk();

  const std::optional<Error>& failure() const { return failure_; }
  uint64_t bytes_written() const { return output_.bytes_written(); }

 private:
  void write(Bytes bytes);

  OutputFile output_;
  ChunkEncoder encoder_;
  struct Freed {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte[], Freed> records_;
  size_t used_ = 0;
  uint32_t contents_ = 0;  // of the open chunk
  uint64_t first_record_ns_ = 0;
  std::optional<Error> failure_;
};

}  // namespace jitprof
