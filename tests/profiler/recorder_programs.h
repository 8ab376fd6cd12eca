// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/record.h"
#include "profiler/recording.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {

// What a recording holds, counted and put together.
struct Contents {
  RecordingHeader header;
  uint64_t samples = 0;
  std::map<uint32_t, uint64_t> samples_by_event;
  std::map<uint32_t, uint64_t> samples_by_pid;
  std::map<uint32_t, uint64_t> samples_by_tid;
  uint64_t with_registers = 0;
  uint64_t with_stack = 0;
  uint64_t with_user_chain = 0;
  uint64_t deepest_copy = 0;
  uint64_t lost = 0;
  std::vector<MapEvent> maps;
  std::vector<ModuleEvent> modules;
  std::vector<std::string> comms;
  // Kind and path of side files, with all their bytes.
  std::map<std::pair<SideFileKind, std::string>, std::string> side_files;
  std::map<std::string, uint64_t> shortfalls;
};
// Fails the test if the file cannot be read to its end or gives events out of order.
Contents read_contents(const std::string& path);

// A program that spins for the CPU seconds its argument says, compiled into the folder.
std::string spin_program(const TempDir& folder);
// Compiles C++ text.
std::string program(const TempDir& folder, const std::string& name, const std::string& text);

// Records and fails the test with the reason if that fails.
RecordSummary must_record(const RecordOptions& options);

}  // namespace jitprof::tests
