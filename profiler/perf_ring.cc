// SPDX-License-Identifier: Apache-2.0
#include "profiler/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace jitprof {
namespace {

// A record's size is 16 bits wide.
constexpr size_t kMaxRecord = 65536;

uint64_t page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

PerfRing::PerfRing(Fd holder, uint64_t bytes, int& error) : holder_(std::move(holder)), size_(bytes) {
  void* mapping =
      mmap(nullptr, bytes + page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, holder_.number(), 0);
  if (mapping == MAP_FAILED) {
    error = errno;
    return;
  }
  error = 0;
  page_ = static_cast<perf_event_mmap_page*>(mapping);
  data_ = static_cast<const std::byte*>(mapping) + page_bytes();
  wrapped_.resize(kMaxRecord);
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : holder_(std::move(other.holder_)),
      page_(std::exchange(other.page_, nullptr)),
      data_(other.data_),
      size_(other.size_),
      head_(other.head_),
      tail_(other.tail_),
      released_(other.released_),
      wrapped_(std::move(other.wrapped_)) {}

PerfRing::~PerfRing() {
  if (page_ != nullptr) munmap(page_, size_ + page_bytes());
}

void PerfRing::start_sweep() {
  // Pairs with the kernel's store of data_head after it wrote a record: what lies before head is whole.
  head_ = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
}

Bytes PerfRing::next() {
  // Give room back before the sweep's end, so that a full ring drains while the target goes on.
  if (tail_ - released_ >= size_ / 8) release();
  Bytes record;
  if (tail_ < head_) record = record_at(tail_);
  if (record.empty()) {
    release();
    return {};
  }
  tail_ += record.size();
  return record;
}

Bytes PerfRing::record_at(uint64_t position) {
  // Records are multiples of 8, so a header never wraps.
  uint64_t offset = position & (size_ - 1);
  perf_event_header header;
  std::memcpy(&header, data_ + offset, sizeof header);
  if (header.size < sizeof header || header.size > head_ - position) {
    // Never seen; only a kernel bug could do it. Nothing behind this place can be found again.
    tail_ = head_;
    return {};
  }
  uint64_t to_end = size_ - offset;
  if (header.size <= to_end) return {data_ + offset, header.size};
  std::memcpy(wrapped_.data(), data_ + offset, to_end);
  std::memcpy(wrapped_.data() + to_end, data_, header.size - to_end);
  return {wrapped_.data(), header.size};
}

void PerfRing::release() {
  if (released_ == tail_) return;
  // Our reads of the records come before the kernel may overwrite them.
  __atomic_store_n(&page_->data_tail, tail_, __ATOMIC_RELEASE);
  released_ = tail_;
}

}  // namespace jitprof
