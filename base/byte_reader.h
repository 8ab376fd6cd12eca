// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace jitprof {

using Bytes = std::span<const std::byte>;

// Reads little-endian values from foreign bytes. Failure is sticky: after the first read past the end every
// read yields zero and ok() is false, so a parser reads all fields of a record and asks once.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  uint64_t offset() const { return offset_; }
  uint64_t remaining() const { return bytes_.size() - offset_; }
  bool at_end() const { return !ok_ || offset_ == bytes_.size(); }

  template <class T>
  T read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (Bytes raw = take(sizeof(T)); raw.size() == sizeof(T)) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  uint8_t u8() { return read<uint8_t>(); }
  uint16_t u16() { return read<uint16_t>(); }
  uint32_t u32() { return read<uint32_t>(); }
  uint64_t u64() { return read<uint64_t>(); }

  // Exactly `size` bytes, or none and failure.
  Bytes take(uint64_t size) {
    if (!ok_ || size > remaining()) {
      ok_ = false;
      return {};
    }
    Bytes taken = bytes_.subspan(offset_, size);
    offset_ += size;
    return taken;
  }
  void skip(uint64_t size) { (void)take(size); }
  void seek(uint64_t offset) {
    if (offset > bytes_.size()) {
      ok_ = false;
    } else {
      offset_ = offset;
    }
  }

  // The text up to the next NUL, which is consumed; failure when there is none.
  std::string_view c_string() {
    if (!ok_) return {};
    const auto* start = reinterpret_cast<const char*>(bytes_.data() + offset_);
    const void* nul = remaining() == 0 ? nullptr : std::memchr(start, 0, remaining());
    if (nul == nullptr) {
      ok_ = false;
      return {};
    }
    std::string_view text(start, static_cast<const char*>(nul) - start);
    offset_ += text.size() + 1;
    return text;
  }

 private:
  Bytes bytes_;
  uint64_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace jitprof
