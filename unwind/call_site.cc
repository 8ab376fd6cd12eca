// SPDX-License-Identifier: Apache-2.0
// Opcodes: Intel SDM volume 2, CALL: E8 rel32, and FF /2 with every form of its operand.
#include "unwind/call_site.h"

#include <array>
#include <cstring>

namespace jitprof {
namespace {

// Bytes of FF /2 by its ModRM byte (and SIB, which may ask for a disp32 of its own); 0 when it is no /2.
size_t indirect_call_size(uint8_t modrm, uint8_t sib) {
  unsigned mod = modrm >> 6, operation = modrm >> 3 & 7, base = modrm & 7;
  if (operation != 2) return 0;
  if (mod == 3) return 2;
  bool has_sib = base == 4;
  size_t size = has_sib ? 3 : 2;
  bool is_relative = mod == 0 && (has_sib ? (sib & 7) == 5 : base == 5);
  if (mod == 1) return size + 1;
  if (mod == 2 || is_relative) return size + 4;
  return size;
}

}  // namespace

bool ends_in_call(Bytes code) {
  auto at = [&](size_t from_end) { return std::to_integer<uint8_t>(code[code.size() - from_end]); };
  if (code.size() >= 5 && at(5) == 0xe8) return true;
  for (size_t size = 2; size <= kLongestCall && size <= code.size(); ++size) {
    uint8_t sib = size >= 3 ? at(size - 2) : 0;
    if (at(size) == 0xff && indirect_call_size(at(size - 1), sib) == size) return true;
  }
  return false;
}

bool begins_with_sigreturn(Bytes code) {
  static constexpr std::array<uint8_t, 9> kByRax = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
  static constexpr std::array<uint8_t, 7> kByEax = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
  auto begins_with = [code](auto& wanted) {
    return code.size() >= wanted.size() && std::memcmp(code.data(), wanted.data(), wanted.size()) == 0;
  };
  return begins_with(kByRax) || begins_with(kByEax);
}

}  // namespace jitprof
