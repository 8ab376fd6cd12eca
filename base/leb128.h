// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/byte_reader.h"

namespace jitprof {

// LEB128 numbers (DWARF 5 section 7.6). Bits beyond the 64th are dropped.
inline uint64_t read_uleb128(ByteReader& reader) {
  uint64_t value = 0;
  uint8_t byte = 0x80;
  for (unsigned shift = 0; (byte & 0x80) != 0 && reader.ok(); shift += 7) {
    byte = reader.u8();
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
  }
  return value;
}

inline int64_t read_sleb128(ByteReader& reader) {
  uint64_t value = 0;
  uint8_t byte = 0x80;
  unsigned shift = 0;
  for (; (byte & 0x80) != 0 && reader.ok(); shift += 7) {
    byte = reader.u8();
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
  }
  if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
  return static_cast<int64_t>(value);
}

}  // namespace jitprof
