// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/jitdump_builder.h"

#include <initializer_list>

namespace jitprof::tests {
namespace {

template <class T>
std::string raw_bytes(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

constexpr uint32_t kPid = 7, kTid = 8;

}  // namespace

JitdumpBuilder::JitdumpBuilder(const Header& header) {
  raw(raw_bytes<uint32_t>({header.magic, header.version, header.size, header.machine, header.pad, kPid}));
  raw(raw_bytes<uint64_t>({header.time, header.flags}));
  if (header.size > 40) text_.resize(header.size);
}

JitdumpBuilder& JitdumpBuilder::load(uint64_t time_ns, uint64_t start, const std::string& name,
                                     const std::string& code, uint64_t index) {
  return record(0, time_ns,
                raw_bytes<uint32_t>({kPid, kTid}) + raw_bytes<uint64_t>({start, start, code.size(), index}) +
                    name + '\0' + code);
}

JitdumpBuilder& JitdumpBuilder::load_of(uint64_t time_ns, uint64_t vma, uint64_t start, uint64_t size,
                                        const std::string& name, const std::string& code) {
  return record(
      0, time_ns,
      raw_bytes<uint32_t>({kPid, kTid}) + raw_bytes<uint64_t>({vma, start, size, 0}) + name + '\0' + code);
}

JitdumpBuilder& JitdumpBuilder::move(uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size) {
  return record(1, time_ns, raw_bytes<uint32_t>({kPid, kTid}) + raw_bytes<uint64_t>({to, from, to, size, 0}));
}

JitdumpBuilder& JitdumpBuilder::lines(uint64_t start, const std::vector<Line>& lines) {
  std::string body = raw_bytes<uint64_t>({start, lines.size()});
  for (const Line& line : lines) {
    body += raw_bytes<uint64_t>({line.pc}) + raw_bytes<uint32_t>({line.line, line.discriminator});
    body += line.file + '\0';
  }
  return record(2, 0, body);
}

JitdumpBuilder& JitdumpBuilder::unwinding(const std::string& eh_frame, uint64_t header_size) {
  uint64_t size = eh_frame.size() + header_size;
  return record(4, 0,
                raw_bytes<uint64_t>({size, header_size, size}) + eh_frame + std::string(header_size, '\1'));
}

JitdumpBuilder& JitdumpBuilder::close() { return record(3, 0, ""); }

JitdumpBuilder& JitdumpBuilder::record(uint32_t id, uint64_t time_ns, const std::string& body) {
  raw(raw_bytes<uint32_t>({id, static_cast<uint32_t>(16 + body.size())}));
  return raw(raw_bytes<uint64_t>({time_ns}) + body);
}

JitdumpBuilder& JitdumpBuilder::raw(const std::string& bytes) {
  text_ += bytes;
  return *this;
}

}  // namespace jitprof::tests
