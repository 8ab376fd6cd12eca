// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/position.h"
#include "unwind/jit/look_times.h"

namespace jitprof {

// One line of a perf map: "START SIZE NAME", both numbers hexadecimal.
struct PerfMapEntry {
  RuntimeAddr start;
  uint64_t size = 0;  // in bytes, start + size does not wrap
  std::string name;   // as published, V8's marks of tiers included
  LookTimes times;    // of its beginning and its end
};

// Reads the perf map of one process (/tmp/perf-PID.map) as it grows. The file has no times: a line was
// written between two looks at the file. Producers differ: V8 and .NET write bare numbers (.NET in upper
// case), HotSpot 0x and sixteen digits with names that hold spaces. A line that cannot be read is counted and
// left out.
class PerfMapReader {
 public:
  // The next bytes of the file.
  void add(Bytes piece, LookTimes times);
  // The file was written anew: what is added next is its beginning. What was read stays.
  void begin_anew();
  // Bytes are missing before those that are added next: half lines at the border are left out.
  void lose_bytes();
  // Nothing more will come: a last line without its end is counted, for its name may be cut.
  void finish();

  // In the order of lines.
  std::vector<PerfMapEntry>& entries() { return entries_; }
  const std::map<std::string, uint64_t>& shortfalls() const { return shortfalls_; }

 private:
  void add_line(std::string_view line, LookTimes times);
  void hold_back(std::string_view rest, LookTimes times);
  void forget_half_line();

  std::vector<PerfMapEntry> entries_;
  std::map<std::string, uint64_t> shortfalls_;
  std::string half_line_;           // whose end has not come yet
  uint64_t half_line_from_ns_ = 0;  // of its beginning
  bool skips_to_line_ = false;      // to the next line's beginning
};

}  // namespace jitprof
