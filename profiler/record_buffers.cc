// SPDX-License-Identifier: Apache-2.0
#include "profiler/record_buffers.h"

#include <utility>

#include "base/result.h"

namespace jitprof {

BufferId RecordBuffers::add(OwnedBytes bytes) {
  if (free_.empty()) {
    free_.push_back({static_cast<uint32_t>(buffers_.size())});
    buffers_.emplace_back();
  }
  BufferId id = free_.back();
  free_.pop_back();
  byte_count_ += bytes.size();
  buffers_[id.index] = {std::move(bytes), 1};
  return id;
}

void RecordBuffers::hold(BufferId id) {
  if (!id.is_none()) ++buffers_[id.index].holds;
}

void RecordBuffers::drop(BufferId id) {
  if (id.is_none()) return;
  Buffer& buffer = buffers_[id.index];
  JP_CHECK(buffer.holds > 0);
  if (--buffer.holds > 0) return;
  byte_count_ -= buffer.bytes.size();
  buffer.bytes = {};
  free_.push_back(id);
}

}  // namespace jitprof
