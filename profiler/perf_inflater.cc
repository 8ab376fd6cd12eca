// SPDX-License-Identifier: Apache-2.0
#include "profiler/perf_inflater.h"

#include <linux/perf_event.h>
#include <zstd.h>

#include <algorithm>
#include <string>

namespace jitprof {
namespace {

constexpr uint64_t kBufferBytes = 1u << 20;
// Records have 16-bit sizes; the rest of a buffer must not be too short for one.
constexpr uint64_t kMinRoom = 1u << 16;
// Real recordings reach about 250 (mostly the zeros behind short stacks); beyond this it is a bomb.
constexpr uint64_t kMaxRatio = 4096;
constexpr uint64_t kRatioSlack = 16u << 20;

}  // namespace

PerfInflater::PerfInflater(RecordBuffers& buffers) : buffers_(buffers), stream_(ZSTD_createDCtx()) {
  JP_CHECK(stream_ != nullptr);
}

PerfInflater::~PerfInflater() {
  ZSTD_freeDCtx(stream_);
  buffers_.drop(buffer_);
}

void PerfInflater::feed(Bytes piece) {
  input_ = piece;
  total_in_ += piece.size();
}

Result<std::optional<Bytes>> PerfInflater::next_record() {
  while (true) {
    std::optional<Bytes> record = JP_TRY(take_record());
    if (record) return record;
    if (input_.empty() && !may_have_more_) return std::optional<Bytes>();
    make_room();
    JP_TRY(inflate());
  }
}

Result<std::optional<Bytes>> PerfInflater::take_record() {
  if (filled_ - parsed_ < sizeof(perf_event_header)) return std::optional<Bytes>();
  Bytes ready = Bytes(buffers_.bytes(buffer_)).subspan(parsed_, filled_ - parsed_);
  uint16_t size = ByteReader(ready).read<perf_event_header>().size;
  if (size < sizeof(perf_event_header))
    return Error{"record of size " + std::to_string(size) + " in compressed data"};
  if (size > ready.size()) return std::optional<Bytes>();
  parsed_ += size;
  return std::optional<Bytes>(ready.first(size));
}

// A record must lie in one piece: what has begun moves to the new buffer.
void PerfInflater::make_room() {
  if (!buffer_.is_none() && kBufferBytes - parsed_ >= kMinRoom) return;
  BufferId fresh = buffers_.add(OwnedBytes(kBufferBytes));
  uint64_t begun = filled_ - parsed_;
  if (begun > 0) {
    std::span<std::byte> old = buffers_.bytes(buffer_);
    std::copy_n(old.begin() + parsed_, begun, buffers_.bytes(fresh).begin());
  }
  buffers_.drop(buffer_);
  buffer_ = fresh;
  parsed_ = 0;
  filled_ = begun;
}

Status PerfInflater::inflate() {
  std::span<std::byte> target = buffers_.bytes(buffer_).subspan(filled_);
  ZSTD_outBuffer out{target.data(), target.size(), 0};
  ZSTD_inBuffer in{input_.data(), input_.size(), 0};
  size_t left = ZSTD_decompressStream(stream_, &out, &in);
  if (ZSTD_isError(left)) return Error{std::string("compressed data: ") + ZSTD_getErrorName(left)};
  if (in.pos == 0 && out.pos == 0 && !input_.empty()) return Error{"compressed data leads nowhere"};
  input_ = input_.subspan(in.pos);
  filled_ += out.pos;
  total_out_ += out.pos;
  may_have_more_ = out.pos == out.size;
  if (total_out_ > kRatioSlack + kMaxRatio * total_in_) {
    return Error{"compressed data inflates to more than any recording does"};
  }
  return Nothing{};
}

}  // namespace jitprof
