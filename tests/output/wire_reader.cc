// SPDX-License-Identifier: Apache-2.0
#include "tests/output/wire_reader.h"

#include <zlib.h>

#include "base/result.h"

namespace jitprof::tests {
namespace {

uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    JP_CHECK(!bytes.empty() && shift < 64);
    auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace

std::string gunzip(std::string_view bytes) {
  z_stream stream{};
  JP_CHECK(inflateInit2(&stream, 15 + 16) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    char buffer[65536];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    state = inflate(&stream, Z_NO_FLUSH);
    JP_CHECK(state == Z_OK || state == Z_STREAM_END);
    text.append(buffer, sizeof buffer - stream.avail_out);
  }
  JP_CHECK(stream.avail_in == 0);
  inflateEnd(&stream);
  return text;
}

WireMessage::WireMessage(std::string_view bytes) {
  while (!bytes.empty()) {
    uint64_t tag = take_varint(bytes);
    auto field = static_cast<uint32_t>(tag >> 3);
    if ((tag & 7) == 0) {
      numbers_.emplace_back(field, take_varint(bytes));
      continue;
    }
    JP_CHECK((tag & 7) == 2);
    uint64_t size = take_varint(bytes);
    JP_CHECK(size <= bytes.size());
    texts_.emplace_back(field, bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
}

uint64_t WireMessage::number(uint32_t field) const {
  uint64_t value = 0;
  for (const auto& [number, found] : numbers_) {
    if (number == field) value = found;
  }
  return value;
}

std::string_view WireMessage::text(uint32_t field) const {
  std::vector<std::string_view> all = texts(field);
  return all.empty() ? std::string_view() : all.back();
}

std::vector<std::string_view> WireMessage::texts(uint32_t field) const {
  std::vector<std::string_view> all;
  for (const auto& [number, found] : texts_) {
    if (number == field) all.push_back(found);
  }
  return all;
}

std::vector<WireMessage> WireMessage::messages(uint32_t field) const {
  std::vector<WireMessage> all;
  for (std::string_view bytes : texts(field)) all.emplace_back(bytes);
  return all;
}

std::vector<uint64_t> WireMessage::packed(uint32_t field) const {
  std::vector<uint64_t> all;
  for (std::string_view bytes : texts(field)) {
    while (!bytes.empty()) all.push_back(take_varint(bytes));
  }
  return all;
}

}  // namespace jitprof::tests
