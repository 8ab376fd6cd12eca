// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "profiler/fd.h"

struct perf_event_mmap_page;

namespace jitprof {

// The ring of one CPU: shared memory that the kernel fills and we empty. Owns the mapping and the event that
// holds it; other events of the CPU are redirected to that one.
class PerfRing {
 public:
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;
  ~PerfRing();

  // `bytes` is a power of two of at least a page. On failure `error` is set and the ring is unusable.
  PerfRing(Fd holder, uint64_t bytes, int& error);

  // What to poll, and what to redirect events to.
  int fd() const { return holder_.number(); }

  // A sweep takes what is in the ring at its start: start_sweep, then next until it gives nothing. A record
  // is contiguous and lives until the following call; its room goes back to the kernel as the sweep goes on.
  void start_sweep();
  Bytes next();

  // Calls visit(record) for everything in the ring and takes nothing out.
  template <class Visit>
  void peek(Visit visit) {
    start_sweep();
    uint64_t tail = tail_;
    while (tail_ < head_) {
      Bytes record = record_at(tail_);
      if (record.empty()) break;
      tail_ += record.size();
      visit(record);
    }
    tail_ = tail;
  }

 private:
  Bytes record_at(uint64_t position);
  void release();

  Fd holder_;
  perf_event_mmap_page* page_ = nullptr;
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t head_ = 0;      // end of the present sweep
  uint64_t tail_ = 0;      // next record
  uint64_t released_ = 0;  // what the kernel may overwrite
  std::vector<std::byte> wrapped_;
};

}  // namespace jitprof
