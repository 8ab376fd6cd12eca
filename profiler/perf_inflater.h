// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profiler/record_buffers.h"

struct ZSTD_DCtx_s;

namespace jitprof {

// Gets the records out of the COMPRESSED records of a perf.data: pieces of one zstd stream, each flushed, but
// with records that may begin in one piece and end in the next. Inflates as much as is asked for, into
// buffers that live while records in them are held.
class PerfInflater {
 public:
  explicit PerfInflater(RecordBuffers& buffers);
  ~PerfInflater();
  PerfInflater(const PerfInflater&) = delete;
  PerfInflater& operator=(const PerfInflater&) = delete;

  // The next piece, once next_record() has given all of the one before. It must live until then.
  void feed(Bytes piece);

  // The next whole record; nullopt when another piece is needed. Errors: not zstd, inflates to more than
  // recorded stacks could, or holds no record. After an error there is nothing more.
  Result<std::optional<Bytes>> next_record();
  // Which buffer the record just given is in.
  BufferId buffer() const { return buffer_; }
  // Whether a record has begun that no piece so far has ended.
  bool is_inside_record() const { return parsed_ < filled_; }

 private:
  Result<std::optional<Bytes>> take_record();
  void make_room();
  Status inflate();

  RecordBuffers& buffers_;
  ZSTD_DCtx_s* stream_;
  Bytes input_;
  BufferId buffer_;
  uint64_t parsed_ = 0;         // bytes of the buffer whose records have been given
  uint64_t filled_ = 0;         // bytes of the buffer that are inflated
  bool may_have_more_ = false;  // the stream may hold output back because the buffer was full
  uint64_t total_in_ = 0;
  uint64_t total_out_ = 0;
};

}  // namespace jitprof
