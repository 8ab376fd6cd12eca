// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

// Gathers records into chunks and appends whole chunks to the output; what the chunk header's kIsJitFiles
// promises a chunk of its own. The first failure to write is kept and everything after it dropped: the
// recorder asks for it once per round instead of at every record.
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

  // When the oldest record of an open chunk will be `age_ns` old; never if there is no record.
  uint64_t chunk_due_ns(uint64_t age_ns) const {
    return std::min(others_.due_ns(age_ns), jit_files_.due_ns(age_ns));
  }
  // Writes out the open chunks that have a record. Side files first: a reader wants them before the samples.
  void close_chunks();

  const std::optional<Error>& failure() const { return failure_; }
  uint64_t bytes_written() const { return output_.bytes_written(); }

 private:
  struct Freed {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  struct OpenChunk {
    OpenChunk();
    uint64_t due_ns(uint64_t age_ns) const { return used == 0 ? UINT64_MAX : first_record_ns + age_ns; }

    std::unique_ptr<std::byte[], Freed> records;
    size_t used = 0;
    uint32_t contents = 0;
    uint64_t first_record_ns = 0;
  };
  void close(OpenChunk& chunk);
  void write(Bytes bytes);

  OutputFile output_;
  ChunkEncoder encoder_;
  OpenChunk jit_files_;
  OpenChunk others_;
  std::optional<Error> failure_;
};

}  // namespace jitprof
