// SPDX-License-Identifier: Apache-2.0
#include "profiler/perf_record_reader.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <utility>

#include "profiler/damage.h"
#include "profiler/perf_data_format.h"

namespace jitprof {
namespace {

constexpr uint64_t kHeadSize = sizeof(perf_event_header);

// The zstd bytes of a COMPRESSED or COMPRESSED2 record; nullopt for any other.
std::optional<Bytes> compressed_piece(const PerfRecord& record) {
  ByteReader reader(record.bytes);
  reader.skip(kHeadSize);
  if (record.type == perf_data::kCompressedRecord) return reader.take(reader.remaining());
  if (record.type == perf_data::kCompressedRecord2) {
    uint64_t size = reader.u64();
    return reader.take(std::min(size, reader.remaining()));
  }
  return std::nullopt;
}

}  // namespace

PerfRecordReader::PerfRecordReader(std::string name, Bytes file, uint64_t begin, uint64_t end,
                                   bool may_be_torn, RecordBuffers& buffers)
    : name_(std::move(name)),
      file_(file),
      offset_(begin),
      end_(end),
      may_be_torn_(may_be_torn),
      inflater_(buffers) {}

Result<std::optional<PerfRecord>> PerfRecordReader::next() {
  if (failure_) return *failure_;
  while (true) {
    Result<std::optional<Bytes>> inflated = inflater_.next_record();
    if (!inflated.ok()) {
      failure_ = damage_at(name_, compressed_offset_, inflated.error().message);
      return *failure_;
    }
    if (inflated.value()) {
      Bytes bytes = *inflated.value();
      uint32_t type = ByteReader(bytes).u32();
      return std::optional(PerfRecord{type, bytes, inflater_.buffer(), compressed_offset_});
    }
    Result<std::optional<PerfRecord>> record = next_in_file();
    if (!record.ok()) failure_ = record.error();
    if (!record.ok() || !record.value()) return record;
    std::optional<Bytes> piece = compressed_piece(*record.value());
    if (!piece) return record;
    compressed_offset_ = record.value()->offset;
    inflater_.feed(*piece);
  }
}

Result<std::optional<PerfRecord>> PerfRecordReader::next_in_file() {
  uint64_t end = std::min<uint64_t>(end_, file_.size());
  if (offset_ >= end) return end_of_records();
  Bytes rest = file_.subspan(offset_, end - offset_);
  ByteReader reader(rest);
  auto head = reader.read<perf_event_header>();
  if (reader.ok() && head.size < kHeadSize) {
    return damage_at(name_, offset_, "record of size " + std::to_string(head.size));
  }
  if (!reader.ok() || head.size > rest.size()) {
    if (end == file_.size()) return end_of_records();
    return damage_at(name_, offset_, "a record reaches beyond the end of the data");
  }
  PerfRecord record{head.type, rest.first(head.size), {}, offset_};
  offset_ += head.size;
  return std::optional(record);
}

Result<std::optional<PerfRecord>> PerfRecordReader::end_of_records() {
  bool is_inside_record = offset_ < std::min<uint64_t>(end_, file_.size()) || inflater_.is_inside_record();
  if (may_be_torn_) {
    is_torn_ = is_inside_record;
    return std::optional<PerfRecord>();
  }
  if (offset_ < end_) {
    return Error{"'" + name_ + "' ends at offset " + std::to_string(file_.size()) +
                 ", inside its data: the file was cut"};
  }
  if (is_inside_record) return damage_at(name_, offset_, "compressed data ends inside a record");
  return std::optional<PerfRecord>();
}

void PerfRecordReader::skip(uint64_t bytes) {
  offset_ = bytes > UINT64_MAX - offset_ ? UINT64_MAX : offset_ + bytes;
}

}  // namespace jitprof
