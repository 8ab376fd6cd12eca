// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "base/byte_reader.h"
#include "base/owned_bytes.h"
#include "base/result.h"
#include "profiler/format.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace jitprof {

// Turns the records of one chunk into its header and zstd frame. Owns the compressor and the buffer it hands
// out, which lives until the next call.
class ChunkEncoder {
 public:
  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  // `records` holds whole records, at most format::kMaxChunkBytes; `contents` is ChunkHeader's.
  Bytes encode(Bytes records, uint32_t contents);

 private:
  ZSTD_CCtx_s* compressor_;
  // Room for the worst case; not a vector, which would touch all of it.
  std::unique_ptr<std::byte[]> stored_;
  size_t stored_room_;
};

// Whether a chunk header is one (magic, own checksum, sizes within bounds).
bool is_valid(const format::ChunkHeader& header);

// Gets the records of a chunk back. The caller has checked is_valid(header) and `stored` is exactly the frame
// behind it; its checksum is checked here. The result is exactly header.raw_size bytes.
class ChunkDecoder {
 public:
  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  Result<OwnedBytes> decode(const format::ChunkHeader& header, Bytes stored);

 private:
  ZSTD_DCtx_s* decompressor_;
};

}  // namespace jitprof
