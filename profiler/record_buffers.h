// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/owned_bytes.h"

namespace jitprof {

using BufferId = Id<struct RecordBufferTag>;

// Owns inflated bytes for as long as someone holds them: whoever is filling or reading the buffer, and every
// record in it that waits for its turn. The none id stands for bytes that need no owner.
class RecordBuffers {
 public:
  // The new buffer is held once, by the caller.
  BufferId add(OwnedBytes bytes);
  void hold(BufferId id);
  // The last drop frees the bytes; the id may be used again.
  void drop(BufferId id);
  std::span<std::byte> bytes(BufferId id) { return buffers_[id.index].bytes.span(); }
  // Of all buffers together.
  uint64_t byte_count() const { return byte_count_; }

 private:
  struct Buffer {
    OwnedBytes bytes;
    uint64_t holds = 0;
  };
  std::vector<Buffer> buffers_;
  std::vector<BufferId> free_;
  uint64_t byte_count_ = 0;
};

}  // namespace jitprof
