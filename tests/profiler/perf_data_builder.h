// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitprof::tests {

// Bytes put together field by field.
class ByteString {
 public:
  template <class T>
  ByteString& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  ByteString& u16(uint16_t value) { return put(value); }
  ByteString& u32(uint32_t value) { return put(value); }
  ByteString& u64(uint64_t value) { return put(value); }
  ByteString& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  ByteString& pad_to(size_t unit) {
    text_.resize((text_.size() + unit - 1) / unit * unit);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// One record of a perf ring or of perf itself: header and body.
std::string perf_record(uint32_t type, uint16_t misc, const std::string& body);
// NUL-terminated and padded to 8.
std::string padded_name(std::string_view name);

// The event that the synthetic files below use: IP|TID|TIME|PERIOD, sample_id_all, MONOTONIC.
perf_event_attr plain_attr();
// Records laid out for it.
std::string plain_sample(uint64_t time_ns, uint64_t ip);
std::string plain_comm(uint64_t time_ns, std::string_view name);
std::string finished_round();

struct PerfDataFile {
  std::vector<perf_event_attr> attrs = {plain_attr()};
  std::vector<std::vector<uint64_t>> ids = {{}};  // for each attr
  std::string data;
  std::vector<std::pair<unsigned, std::string>> features;  // by bit, ascending
  bool is_finished = true;

  std::string bytes() const;
};

// The same records behind a pipe-mode header and HEADER_ATTR records.
std::string perf_data_pipe(const PerfDataFile& file);
// The records as COMPRESSED records of one zstd stream: cut into pieces of that many raw bytes.
std::string compressed(const std::string& records, size_t piece);

}  // namespace jitprof::tests
