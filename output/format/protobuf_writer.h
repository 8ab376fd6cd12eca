// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jitprof {

// Appends fields of one protobuf message to its bytes (protobuf.dev/programming-guides/encoding). A message
// inside a message is written by its own writer first and then put in whole.
class ProtobufWriter {
 public:
  // Left out when 0, which readers take for it.
  void number(uint32_t field, uint64_t value) {
    if (value == 0) return;
    varint(field << 3 | kVarint);
    varint(value);
  }
  // Written also when empty: repeated fields count.
  void text(uint32_t field, std::string_view bytes) {
    varint(field << 3 | kLengthDelimited);
    varint(bytes.size());
    bytes_ += bytes;
  }
  void message(uint32_t field, const ProtobufWriter& inner) { text(field, inner.bytes_); }
  // A packed repeated number; zeros count.
  void numbers(uint32_t field, std::span<const uint64_t> values) {
    if (values.empty()) return;
    uint64_t size = 0;
    for (uint64_t value : values) size += size_of(value);
    varint(field << 3 | kLengthDelimited);
    varint(size);
    for (uint64_t value : values) varint(value);
  }

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  static constexpr uint32_t kVarint = 0;
  static constexpr uint32_t kLengthDelimited = 2;

  static uint64_t size_of(uint64_t value) {
    uint64_t size = 1;
    for (; value >= 0x80; value >>= 7) ++size;
    return size;
  }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace jitprof
