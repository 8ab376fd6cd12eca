// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/byte_reader.h"
#include "base/position.h"
#include "unwind/jit/jit_code.h"
#include "unwind/jit/jitdump_format.h"
#include "unwind/jit/jitdump_lines.h"
#include "unwind/jit/look_times.h"
#include "unwind/jit/published_record.h"

namespace jitprof {

// Reads one jitdump file of one process as it grows, and says in a JitLog what it tells. Files end anywhere:
// a killed V8 leaves a last record cut at a multiple of 4096 bytes. A record that contradicts itself is left
// out; where no next record can be found, or the header is not one, the rest is left out; each is counted.
class JitdumpReader {
 public:
  // Without `uses_times` (the samples are of another clock) all changes get time 0.
  JitdumpReader(uint32_t pid, bool uses_times, JitLog& log);

  // The next bytes of the file.
  void add(Bytes piece, LookTimes times);
  // The file was written anew: what is added next is its beginning. What was read stays.
  void begin_anew();
  // Bytes are missing before those that are added next: the rest cannot be read.
  void lose_bytes();
  // Nothing more will come.
  void finish();

 private:
  // The parts of a code object that come before its JIT_CODE_LOAD.
  struct Announced {
    std::map<uint64_t, std::vector<std::byte>> lines;  // by code start
    std::map<uint64_t, PublishedRecord> details;       // by code index
    std::vector<std::byte> eh_frame;                   // of whatever is loaded next
  };

  // These give the bytes they used: none when more must come first.
  uint64_t read_header(Bytes bytes);
  uint64_t read_record(Bytes bytes, LookTimes times);
  // Gives what is left; `times` are of the first record, `times_behind` of the others.
  Bytes read_all(Bytes bytes, LookTimes times, LookTimes times_behind);

  void on_record(const jitdump::RecordPrefix& prefix, Bytes body, LookTimes times);
  bool on_load(Bytes body, uint64_t time_ns);
  bool on_move(Bytes body, uint64_t time_ns);
  bool on_debug_info(Bytes body);
  bool on_unwinding_info(Bytes body);
  bool on_published(Bytes body, uint64_t time_ns);
  void add_announced(const jitdump::CodeLoad& load, RuntimeAddr start, JitCode& code);
  uint64_t time_of(const jitdump::RecordPrefix& prefix, LookTimes times);
  void give_up(const char* shortfall);
  void forget();

  uint32_t pid_;
  bool uses_times_;
  JitLog& log_;
  bool has_header_ = false;
  bool is_over_ = false;  // the rest is not read
  bool has_arch_times_ = false;
  bool is_v8_ = false;
  JitdumpLines lines_{false};
  Announced announced_;
  std::vector<std::byte> half_record_;  // whose end has not come yet
  uint64_t half_record_from_ns_ = 0;    // of its beginning
};

}  // namespace jitprof
