// SPDX-License-Identifier: Apache-2.0

// Any bytes as a recording: must end, within bounded memory, without a crash. The first byte chooses what the
// rest stands for, so that checksums and zstd do not keep the fuzzer out: 0 a file as it is, 1 the records of
// a chunk of our own, 2 the inflated records of a perf.data in pipe mode.

#include <linux/perf_event.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "profiler/chunk_codec.h"
#include "profiler/perf_data_format.h"
#include "profiler/recording.h"

namespace jitprof {
namespace {

using Buffer = std::vector<std::byte>;

void append(Buffer& file, const void* bytes, size_t size) {
  const auto* start = static_cast<const std::byte*>(bytes);
  file.insert(file.end(), start, start + size);
}

// Cut in two, so that records at the border and state across chunks are tried as well.
Buffer as_chunks(Bytes records) {
  Buffer file;
  format::FileHeader head{{}, format::kVersion, sizeof(format::FileHeader)};
  std::memcpy(head.magic, format::kMagic, sizeof head.magic);
  append(file, &head, sizeof head);
  ChunkEncoder encoder;
  size_t middle = records.size() / 2 / 8 * 8;
  for (Bytes part : {records.first(middle), records.subspan(middle)}) {
    Bytes chunk = encoder.encode(part, format::ChunkHeader::kHasModules);
    append(file, chunk.data(), chunk.size());
  }
  return file;
}

Buffer as_compressed_pipe(Bytes records) {
  Buffer file;
  append(file, "PERFILE2", 8);
  append(file, &perf_data::kPipeHeaderSize, 8);
  // Uncompressed comes one HEADER_ATTR record with two ids, 152 bytes as perf 6.1 writes it.
  Bytes descriptions = records.first(std::min<size_t>(records.size(), 152));
  append(file, descriptions.data(), descriptions.size());
  Bytes rest = records.subspan(descriptions.size());
  Buffer stored(ZSTD_compressBound(rest.size()));
  size_t size = ZSTD_compress(stored.data(), stored.size(), rest.data(), rest.size(), 1);
  if (ZSTD_isError(size) || size > UINT16_MAX - sizeof(perf_event_header)) return file;
  perf_event_header head{perf_data::kCompressedRecord, 0,
                         static_cast<uint16_t>(size + sizeof(perf_event_header))};
  append(file, &head, sizeof head);
  append(file, stored.data(), size);
  return file;
}

void read_all(Buffer file) {
  Result<Recording> recording = Recording::parse(MappedFile::from_memory(std::move(file)), "fuzz");
  if (!recording.ok()) return;
  uint64_t sum = 0;
  while (true) {
    Result<const Event*> event = recording.value().next();
    if (!event.ok() || event.value() == nullptr) break;
    // Touch everything that is viewed: a view outside its bytes is found here.
    if (const auto* sample = std::get_if<Sample>(event.value())) {
      JP_CHECK(sample->event < recording.value().header().events.size());
      for (RuntimeAddr pc : sample->kernel_chain) sum += pc.value;
      for (RuntimeAddr pc : sample->user_chain) sum += pc.value;
      for (uint32_t i = 0; i < sample->stack_count; ++i) {
        for (std::byte byte : sample->stack[i].bytes) sum += std::to_integer<unsigned>(byte);
      }
    } else if (const auto* piece = std::get_if<SideFileEvent>(event.value())) {
      for (std::byte byte : piece->bytes) sum += std::to_integer<unsigned>(byte);
    }
  }
  volatile uint64_t kept = sum;
  (void)kept;
}

}  // namespace
}  // namespace jitprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jitprof;
  if (size == 0 || size > format::kMaxChunkBytes) return 0;
  Bytes rest = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 3) {
    case 0:
      read_all({rest.begin(), rest.end()});
      break;
    case 1:
      read_all(as_chunks(rest));
      break;
    default:
      read_all(as_compressed_pipe(rest));
      break;
  }
  return 0;
}
