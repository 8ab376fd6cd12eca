// SPDX-License-Identifier: Apache-2.0
#include "profiler/recording_writer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "profiler/clock.h"

namespace jitprof {
namespace {

// The compressor looks back at random places in all of the chunk; with small pages most of its looks missed
// the TLB too, a twentieth of the recorder's time.
std::byte* record_room() {
  constexpr size_t kHugePage = 2 * 1024 * 1024;
  static_assert(format::kMaxChunkBytes % kHugePage == 0);
  void* room = std::aligned_alloc(kHugePage, format::kMaxChunkBytes);
  JP_CHECK(room != nullptr);
  madvise(room, format::kMaxChunkBytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(room);
}

}  // namespace

RecordingWriter::OpenChunk::OpenChunk() : records(record_room()) {}

RecordingWriter::RecordingWriter(OutputFile output) : output_(std::move(output)) {}

void RecordingWriter::begin() {
  format::FileHeader header{};
  std::memcpy(header.magic, format::kMagic, sizeof header.magic);
  header.version = format::kVersion;
  header.size = sizeof header;
  write({reinterpret_cast<const std::byte*>(&header), sizeof header});
}

std::byte* RecordingWriter::append(format::RecordType type, uint64_t size, uint32_t contents) {
  uint64_t whole = format::padded(size);
  JP_CHECK(whole <= format::kMaxChunkBytes);
  OpenChunk& chunk = (contents & format::ChunkHeader::kIsJitFiles) != 0 ? jit_files_ : others_;
  if (whole > format::kMaxChunkBytes - chunk.used) close(chunk);
  if (chunk.used == 0) chunk.first_record_ns = monotonic_ns();
  std::byte* place = chunk.records.get() + chunk.used;
  format::RecordHead head{type, static_cast<uint32_t>(whole)};
  std::memset(place + whole - 8, 0, 8);
  std::memcpy(place, &head, sizeof head);
  chunk.used += whole;
  chunk.contents |= contents;
  return place;
}

void RecordingWriter::close_chunks() {
  close(jit_files_);
  close(others_);
}

void RecordingWriter::close(OpenChunk& chunk) {
  if (chunk.used == 0) return;
  write(encoder_.encode({chunk.records.get(), chunk.used}, chunk.contents));
  chunk.used = 0;
  chunk.contents = 0;
}

void RecordingWriter::write(Bytes bytes) {
  if (failure_) return;
  if (Status status = output_.write(bytes); !status.ok()) failure_ = status.error();
}

}  // namespace jitprof
