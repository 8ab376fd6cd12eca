// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"

namespace jitprof {

// A PERF_RECORD_MMAP2 as the recorder needs it; `path` views the record.
struct Mapping {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t start = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  uint32_t protection = 0;  // PROT_*
  uint64_t time_ns = 0;     // when it was made, or seen
  std::string_view path;

  // Whether code in it can come from nowhere but a compiler in the process: no file, or one that is only
  // memory.
  bool may_hold_jit_code() const;
};

// A PERF_RECORD_FORK, EXIT or COMM: who.
struct TaskRecord {
  uint32_t type = 0;  // PERF_RECORD_*
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t parent_pid = 0;
  uint32_t parent_tid = 0;
  bool is_exec = false;  // of a COMM
  uint64_t time_ns = 0;
};

std::optional<Mapping> parse_mapping(Bytes record);
std::optional<TaskRecord> parse_task(Bytes record);
// Of a record other than a sample, by its sample_id trailer; 0 when it is too short for one.
uint64_t trailer_time(Bytes record);

// The same records as the kernel writes them, without a trailer. `misc` is of perf_event_header.
std::vector<std::byte> make_mapping(const Mapping& mapping, uint16_t misc);
std::vector<std::byte> make_comm(uint32_t pid, uint32_t tid, std::string_view comm);
std::vector<std::byte> make_fork(uint32_t pid, uint32_t tid, uint32_t parent_pid, uint32_t parent_tid,
                                 uint64_t time_ns);
std::vector<std::byte> make_lost(uint64_t count);

}  // namespace jitprof
