// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/event.h"
#include "unwind/jit/gdb_jit_reader.h"
#include "unwind/jit/jit_code.h"
#include "unwind/jit/jitdump.h"
#include "unwind/jit/perf_map.h"

namespace jitprof {

// Collects what the perf maps, jitdumps and GDB JIT objects of all processes of a recording tell into one
// JitLog. Owns the reader of each file. Opens nothing: the bytes come from the recording, or from a caller
// who read the files.
class JitCollector {
 public:
  // Without monotonic times (a perf.data of another clock) code is matched without time: everything is at 0,
  // in the order in which it was told.
  explicit JitCollector(bool has_monotonic_times) : has_monotonic_times_(has_monotonic_times) {}
  JitCollector(const JitCollector&) = delete;
  JitCollector& operator=(const JitCollector&) = delete;

  // The next piece of a file in a recording. Kinds that are not of code made at run time are ignored.
  void add(const SideFileEvent& piece);
  // A whole file that was found beside a perf.data.
  void add_file(uint32_t pid, SideFileKind kind, Bytes whole);

  // Changes by time; those of one time in the order in which they count. The collector is empty then.
  JitLog finish();

 private:
  template <class Reader>
  struct File {
    Reader reader;
    uint64_t next_offset = 0;
  };
  using FileKey = std::pair<uint32_t, std::string>;  // process, path
  struct Loads;

  template <class Reader>
  static void read_piece(File<Reader>& file, const SideFileEvent& piece, LookTimes times);
  void add(const SideFileEvent& piece, bool is_whole);
  void drop_what_objects_tell();
  std::map<uint32_t, std::vector<PerfMapEntry>> take_map_lines();
  void add_map_lines(uint32_t pid, std::vector<PerfMapEntry> lines, const std::vector<JitChange>& jitdumps,
                     Loads& loads);

  bool has_monotonic_times_;
  JitLog log_;
  GdbJitReader objects_{log_};
  std::map<FileKey, File<PerfMapReader>> maps_;
  std::map<FileKey, File<JitdumpReader>> dumps_;
};

}  // namespace jitprof
