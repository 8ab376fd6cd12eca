// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/dump_records.h"

#include "tests/catch.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {

Dump read_dump(const std::string& path) {
  std::string content = read_file(path);
  ByteReader reader({reinterpret_cast<const std::byte*>(content.data()), content.size()});
  Dump dump;
  REQUIRE(reader.u32() == 0x4a695444);
  REQUIRE(reader.u32() == 1);
  REQUIRE(reader.u32() == 40);
  REQUIRE(reader.u32() == 62);
  reader.skip(4);
  dump.pid = reader.u32();
  reader.skip(16);
  while (!reader.at_end()) {
    DumpRecord record;
    record.id = reader.u32();
    uint32_t size = reader.u32();
    record.time_ns = reader.u64();
    REQUIRE(size >= 16);
    Bytes body = reader.take(size - 16);
    record.body.assign(reinterpret_cast<const char*>(body.data()), body.size());
    dump.records.push_back(std::move(record));
  }
  REQUIRE(reader.ok());
  return dump;
}

std::vector<uint32_t> Dump::ids() const {
  std::vector<uint32_t> ids;
  for (const DumpRecord& record : records) ids.push_back(record.id);
  return ids;
}

OpenDump::OpenDump() { REQUIRE(jitprof_jit_open(&jit, folder.path().c_str()) == 0); }

jitprof_jit_code small_code() {
  static constexpr unsigned char kCode[] = {0x90, 0x90, 0xc3};
  jitprof_jit_code code{};
  code.name = "small";
  code.start = 0x10000;
  code.size = sizeof kCode;
  code.bytes = kCode;
  return code;
}

}  // namespace jitprof::tests
