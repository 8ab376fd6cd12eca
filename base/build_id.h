// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "base/byte_reader.h"

namespace jitprof {

// The descriptor of an ELF's NT_GNU_BUILD_ID note: 20 bytes from ld, 8 or 16 from others. Empty when there is
// none. Longer ones are cut to 32 bytes, which no linker writes by default.
class BuildId {
 public:
  BuildId() = default;
  explicit BuildId(Bytes bytes) : size_(static_cast<uint8_t>(std::min(bytes.size(), bytes_.size()))) {
    std::copy_n(bytes.begin(), size_, bytes_.begin());
  }

  bool empty() const { return size_ == 0; }
  Bytes bytes() const { return {bytes_.data(), size_}; }
  std::string hex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (std::byte byte : bytes()) {
      text += kDigits[std::to_integer<unsigned>(byte) >> 4];
      text += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
  }
  auto operator<=>(const BuildId&) const = default;

 private:
  std::array<std::byte, 32> bytes_{};
  uint8_t size_ = 0;
};

}  // namespace jitprof
