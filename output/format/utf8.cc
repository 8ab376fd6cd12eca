// SPDX-License-Identifier: Apache-2.0
#include "output/format/utf8.h"

#include <cstdint>
#include <cstdio>

namespace jitprof {
namespace {

// Bytes of the well-formed character at the start of `text`; 0 when there is none.
size_t character_size(std::string_view text) {
  auto byte = [text](size_t index) { return static_cast<uint8_t>(text[index]); };
  uint8_t first = byte(0);
  if (first < 0x80) return 1;
  size_t size = first >= 0xc2 && first <= 0xdf   ? 2
                : (first & 0xf0) == 0xe0         ? 3
                : first >= 0xf0 && first <= 0xf4 ? 4
                                                 : 0;
  if (size == 0 || size > text.size()) return 0;
  // Overlong forms, surrogates and what lies above U+10FFFF differ from the rest in their second byte.
  uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t index = 2; index < size; ++index) {
    if ((byte(index) & 0xc0) != 0x80) return 0;
  }
  return size;
}

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    size_t size = character_size(bytes);
    text += size == 0 ? kReplacement : bytes.substr(0, size);
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return text;
}

void append_json_string(std::string& json, std::string_view bytes) {
  json += '"';
  while (!bytes.empty()) {
    size_t size = character_size(bytes);
    std::string_view character = size == 0 ? kReplacement : bytes.substr(0, size);
    bytes.remove_prefix(size == 0 ? 1 : size);
    auto first = static_cast<uint8_t>(character[0]);
    if (first < 0x20 || first == 0x7f || first == '<') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", first);
      json += escape;
    } else if (first == '"' || first == '\\') {
      json += '\\';
      json += character;
    } else if (character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9") {
      json += character == "\xe2\x80\xa8" ? "\\u2028" : "\\u2029";
    } else {
      json += character;
    }
  }
  json += '"';
}

}  // namespace jitprof
