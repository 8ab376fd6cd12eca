// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/perf_data_builder.h"

#include <time.h>
#include <zstd.h>

#include <cstring>

#include "profiler/perf_data_format.h"

namespace jitprof::tests {

std::string perf_record(uint32_t type, uint16_t misc, const std::string& body) {
  return ByteString().u32(type).u16(misc).u16(8 + body.size()).raw(body).text();
}

std::string padded_name(std::string_view name) { return ByteString().raw(name).put('\0').pad_to(8).text(); }

perf_event_attr plain_attr() {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.freq = 1;
  attr.sample_freq = 999;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

std::string plain_sample(uint64_t time_ns, uint64_t ip) {
  std::string body = ByteString().u64(ip).u32(7).u32(8).u64(time_ns).u64(1000).text();
  return perf_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body);
}

std::string plain_comm(uint64_t time_ns, std::string_view name) {
  std::string body = ByteString().u32(7).u32(8).raw(padded_name(name)).u32(7).u32(8).u64(time_ns).text();
  return perf_record(PERF_RECORD_COMM, 0, body);
}

std::string finished_round() { return perf_record(perf_data::kFinishedRound, 0, ""); }

std::string PerfDataFile::bytes() const {
  constexpr size_t kEntry = sizeof(perf_event_attr) + sizeof(perf_data::Section);
  perf_data::FileHeader head{};
  std::memcpy(head.magic, "PERFILE2", 8);
  head.size = sizeof head;
  head.attr_size = kEntry;
  std::string id_bytes, entries;
  for (size_t i = 0; i < attrs.size(); ++i) {
    ByteString entry;
    entry.put(attrs[i]).u64(sizeof head + id_bytes.size()).u64(8 * ids[i].size());
    entries += entry.text();
    for (uint64_t id : ids[i]) id_bytes += ByteString().u64(id).text();
  }
  head.attrs = {sizeof head + id_bytes.size(), entries.size()};
  head.data = {head.attrs.offset + entries.size(), is_finished ? data.size() : 0};
  for (const auto& [bit, payload] : features) head.features[bit / 64] |= uint64_t{1} << (bit % 64);

  std::string file = ByteString().put(head).raw(id_bytes).raw(entries).raw(data).text();
  if (!is_finished) return file;
  uint64_t place = file.size() + features.size() * sizeof(perf_data::Section);
  for (const auto& [bit, payload] : features) {
    file += ByteString().u64(place).u64(payload.size()).text();
    place += payload.size();
  }
  for (const auto& [bit, payload] : features) file += payload;
  return file;
}

std::string perf_data_pipe(const PerfDataFile& file) {
  ByteString pipe;
  pipe.raw("PERFILE2").u64(perf_data::kPipeHeaderSize);
  for (size_t i = 0; i < file.attrs.size(); ++i) {
    ByteString body;
    body.put(file.attrs[i]);
    for (uint64_t id : file.ids[i]) body.u64(id);
    pipe.raw(perf_record(perf_data::kHeaderAttr, 0, body.text()));
  }
  for (const auto& [bit, payload] : file.features) {
    pipe.raw(perf_record(perf_data::kHeaderFeature, 0, ByteString().u64(bit).raw(payload).text()));
  }
  return pipe.raw(file.data).text();
}

std::string compressed(const std::string& records, size_t piece) {
  ZSTD_CCtx* stream = ZSTD_createCCtx();
  std::string result;
  for (size_t at = 0; at < records.size(); at += piece) {
    std::string part = records.substr(at, piece);
    std::string stored(ZSTD_compressBound(part.size()) + 64, '\0');
    ZSTD_inBuffer in{part.data(), part.size(), 0};
    ZSTD_outBuffer out{stored.data(), stored.size(), 0};
    while (ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush) != 0) {
    }
    result += perf_record(perf_data::kCompressedRecord, 0, stored.substr(0, out.pos));
  }
  ZSTD_freeCCtx(stream);
  return result;
}

}  // namespace jitprof::tests
