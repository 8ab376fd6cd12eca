// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "include/jitprof/jit.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {

// The records of a jitdump as they stand in it, to look at what jit.h wrote. Fails the test where prefixes
// and sizes do not add up to the file.
struct DumpRecord {
  uint32_t id = 0;
  uint64_t time_ns = 0;
  std::string body;
  Bytes bytes() const { return {reinterpret_cast<const std::byte*>(body.data()), body.size()}; }
};
struct Dump {
  uint32_t pid = 0;
  std::vector<DumpRecord> records;
  std::vector<uint32_t> ids() const;
};
Dump read_dump(const std::string& path);

// A dump of this process in a folder of its own.
struct OpenDump {
  OpenDump();
  ~OpenDump() { jitprof_jit_close(&jit); }
  OpenDump(const OpenDump&) = delete;
  OpenDump& operator=(const OpenDump&) = delete;

  std::string path(pid_t pid = getpid()) const { return folder.file("jit-" + std::to_string(pid) + ".dump"); }
  Dump read() const { return read_dump(path()); }

  TempDir folder;
  jitprof_jit jit;
};

// Three bytes at 0x10000, in order to be published.
jitprof_jit_code small_code();

}  // namespace jitprof::tests
