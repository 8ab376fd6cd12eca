// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/byte_reader.h"
#include "base/worker_pool.h"
#include "profiler/chunk_codec.h"
#include "profiler/format.h"

namespace jitprof {

// Inflates the next few chunks of a file on other threads while one is being read: inflating is most of the
// work of reading a recording, and each chunk stands alone. take() is the reader's; do_one() is for the pool.
class ChunkReadAhead : public Backlog {
 public:
  // The file's bytes and the pool must outlive this.
  ChunkReadAhead(Bytes file, WorkerPool& pool);
  ~ChunkReadAhead() override;

  // What ChunkDecoder::decode says of the whole, valid chunk at `offset`. Chunks are taken one behind the
  // other, without those that are JIT files, which are read before all others. While another thread is busy
  // with this one, the reader works ahead too.
  Result<OwnedBytes> take(uint64_t offset);

  bool do_one() override;

 private:
  struct Slot {
    format::ChunkHeader head;
    Bytes stored;
    bool is_claimed = false;
    std::optional<Result<OwnedBytes>> records;
  };
  using Lock = std::unique_lock<std::mutex>;
  // Claims chunks behind the last one up to the window's size, or to where no whole chunk follows.
  void open_slots();
  // False when each open slot is claimed.
  bool fill_one(Lock& lock);

  Bytes file_;
  WorkerPool& pool_;
  size_t window_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Slot> slots_;  // in order of the file; the first is the one to be taken next
  uint64_t next_ = 0;       // offset of the chunk behind the last slot
};

}  // namespace jitprof
