// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "profiler/chunk_codec.h"
#include "profiler/chunk_read_ahead.h"
#include "profiler/chunk_records.h"
#include "profiler/source.h"

namespace jitprof {

// A recording of our own (FORMAT.md). An inflated chunk lives while a record in it waits for its turn.
class Recording::ChunkSource final : public Recording::Source {
 public:
  static Result<std::unique_ptr<Source>> open(MappedFile file, const std::string& name, WorkerPool* helpers);
  ~ChunkSource() override;

 private:
  ChunkSource(MappedFile file, const std::string& name) : file_(std::move(file)), name_(name) {}

  Status read_file_header();
  Result<bool> read_record() override;
  const Event& decode(const HeldRecord& record) override;

  bool read_side_files_ahead();
  void hold_side_files(BufferId chunk, uint32_t contents);
  Result<bool> open_chunk();
  Result<bool> open_next_chunk();
  Status hold_record(Bytes record);
  Error damage(const std::string& what) const;

  MappedFile file_;
  std::string name_;
  uint64_t ahead_ = 0;  // of the chunk to look for side files in next
  bool is_ahead_over_ = true;
  uint64_t offset_ = 0;        // of the chunk behind the open one
  uint64_t chunk_offset_ = 0;  // of the open chunk, whose records are in
  BufferId chunk_;             // this buffer
  uint32_t contents_ = 0;      // by its header
  uint64_t parsed_ = 0;        // and have been read up to here
  bool is_torn_ = false;       // the file ends inside a chunk
  bool has_end_ = false;

  ChunkDecoder chunks_;
  std::unique_ptr<ChunkReadAhead> read_ahead_;  // where there are threads for it
  ChunkRecordDecoder records_;
  Event event_;
};

}  // namespace jitprof
