// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace jitprof::jitdump {

// The jitdump file as tools/perf/Documentation/jitdump-specification.txt of Linux describes it: a header,
// then records. Everything is little endian here.

// "JiTD" as the number that a producer of the same byte order wrote.
constexpr uint32_t kMagic = 0x4A695444;
constexpr uint32_t kVersion = 1;
// Records' times are not CLOCK_MONOTONIC but the processor's counter.
constexpr uint64_t kArchTimes = 1;

struct FileHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t total_size;   // of the header; more than this struct in later versions
  uint32_t elf_machine;  // EM_X86_64; CPython writes 0
  uint32_t pad;          // V8: kV8Pad
  uint32_t inner_pid;
  uint64_t wall_time;  // V8 and CPython: microseconds since 1970, while their records are CLOCK_MONOTONIC
  uint64_t flags;
};
static_assert(sizeof(FileHeader) == 40);

constexpr uint32_t kV8Pad = 0xdeadbeef;

enum class RecordId : uint32_t {
  kCodeLoad = 0,
  kCodeMove = 1,
  kCodeDebugInfo = 2,
  kCodeClose = 3,
  kCodeUnwindingInfo = 4,
};

struct RecordPrefix {
  uint32_t id;
  uint32_t total_size;  // this prefix included
  uint64_t time_ns;
};
static_assert(sizeof(RecordPrefix) == 16);

// What follows the prefix. Process and thread are numbers of the producer's own namespace, if that: BEAM
// writes half a pthread_t.

// Then the name with its NUL, then the code.
struct CodeLoad {
  uint32_t inner_pid;
  uint32_t inner_tid;
  uint64_t vma;  // the same as code_start; LLVM writes 0
  uint64_t code_start;
  uint64_t code_size;
  uint64_t code_index;
};
static_assert(sizeof(CodeLoad) == 40);

struct CodeMove {
  uint32_t inner_pid;
  uint32_t inner_tid;
  uint64_t vma;
  uint64_t old_start;
  uint64_t new_start;
  uint64_t code_size;
  uint64_t code_index;
};
static_assert(sizeof(CodeMove) == 48);

// Then the entries: DebugEntry and a file name with its NUL, "\xff\0" for that of the entry before.
struct CodeDebugInfo {
  uint64_t code_start;
  uint64_t entry_count;
};
static_assert(sizeof(CodeDebugInfo) == 16);

struct DebugEntry {
  uint64_t pc;
  uint32_t line;
  uint32_t discriminator;  // V8: the column
};
static_assert(sizeof(DebugEntry) == 16);

// Then unwinding_size bytes: .eh_frame and behind it eh_frame_header_size bytes of .eh_frame_hdr.
struct CodeUnwindingInfo {
  uint64_t unwinding_size;
  uint64_t eh_frame_header_size;
  uint64_t mapped_size;
};
static_assert(sizeof(CodeUnwindingInfo) == 24);

}  // namespace jitprof::jitdump
