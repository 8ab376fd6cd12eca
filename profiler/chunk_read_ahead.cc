// SPDX-License-Identifier: Apache-2.0
#include "profiler/chunk_read_ahead.h"

#include <algorithm>
#include <utility>

namespace jitprof {
namespace {

// A chunk may hold 16 MiB.
constexpr size_t kMostSlots = 16;

}  // namespace

ChunkReadAhead::ChunkReadAhead(Bytes file, WorkerPool& pool)
    : file_(file), pool_(pool), window_(std::min<size_t>(pool.jobs() + 1, kMostSlots)) {
  pool_.attach(*this);
}

ChunkReadAhead::~ChunkReadAhead() { pool_.detach(); }

Result<OwnedBytes> ChunkReadAhead::take(uint64_t offset) {
  Lock lock(mutex_);
  if (slots_.empty()) next_ = offset;
  open_slots();
  JP_CHECK(!slots_.empty());
  lock.unlock();
  pool_.offer();
  lock.lock();
  while (!slots_.front().records) {
    if (!fill_one(lock)) filled_.wait(lock);
  }
  Result<OwnedBytes> records = std::move(*slots_.front().records);
  slots_.pop_front();
  return records;
}

bool ChunkReadAhead::do_one() {
  Lock lock(mutex_);
  return fill_one(lock);
}

void ChunkReadAhead::open_slots() {
  while (slots_.size() < window_ && next_ < file_.size()) {
    ByteReader reader(file_.subspan(next_));
    auto head = reader.read<format::ChunkHeader>();
    if (!reader.ok() || !is_valid(head)) return;
    Bytes stored = reader.take(head.stored_size);
    if (!reader.ok()) return;
    next_ += sizeof head + stored.size();
    if ((head.contents & format::ChunkHeader::kIsJitFiles) != 0) continue;
    slots_.push_back({.head = head, .stored = stored});
  }
}

bool ChunkReadAhead::fill_one(Lock& lock) {
  auto open = std::ranges::find(slots_, false, &Slot::is_claimed);
  if (open == slots_.end()) return false;
  // Slots stay where they are while others are added behind and taken before them.
  Slot& slot = *open;
  slot.is_claimed = true;
  lock.unlock();
  Result<OwnedBytes> records = ChunkDecoder().decode(slot.head, slot.stored);
  lock.lock();
  slot.records = std::move(records);
  filled_.notify_all();
  return true;
}

}  // namespace jitprof
