// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/build_id.h"
#include "base/byte_reader.h"
#include "base/position.h"
#include "base/registers.h"

namespace jitprof {

// What a recording says, one Event at a time, in the order of time. The same nouns for our own recordings and
// for perf.data. Spans and views in an event live until the next one is asked for. Times are nanoseconds of
// the recording's clock (CLOCK_MONOTONIC in our own).

// A piece of a stack as it was copied: `bytes` start at `start`; `asked` bytes were wanted, so a shorter copy
// means that the memory ended or could not be read there.
struct StackSegment {
  RuntimeAddr start;
  Bytes bytes;
  uint64_t asked = 0;
};

struct Sample {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t cpu = 0;
  uint32_t event = 0;   // index into RecordingHeader::events
  uint64_t period = 0;  // what the sample stands for, in the event's unit (ns for clocks)
  RuntimeAddr ip;       // where the event hit, in user or kernel code
  bool in_kernel = false;
  Registers registers;  // of user space; empty when none were recorded
  // Chains walked by the kernel, leaf first, pcs as recorded: the first of each is exact, the others are
  // return addresses. Context markers (PERF_CONTEXT_*) are taken out.
  std::span<const RuntimeAddr> kernel_chain;
  std::span<const RuntimeAddr> user_chain;
  // The stack in use, then (signal engine, alternate stacks) the interrupted one.
  std::array<StackSegment, 2> stack;
  uint32_t stack_count = 0;
};

// A mapping came to be. Kernel text and kernel modules have in_kernel set.
struct MapEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  RuntimeAddr start;
  uint64_t size = 0;
  FileOffset offset;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;  // 0 when unknown or when the record carried a build-id instead
  BuildId build_id;    // empty when the record did not say
  bool is_executable = false;
  bool in_kernel = false;
  std::string path;  // "/usr/bin/x", "[vdso]", "//anon", "[kernel.kallsyms]_text"
};

// A thread got a name; with is_exec, the process got a new image and every earlier mapping is gone.
struct CommEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  std::string comm;
  bool is_exec = false;
};

// A thread (pid == parent_pid) or a process began.
struct ForkEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t parent_pid = 0;
  uint32_t parent_tid = 0;
  // Written by the recorder for something that ran before the recording began: it must not replace mappings
  // already known for pid, which the recorder may have written earlier (hotspot #783).
  bool is_snapshot = false;
};

struct ExitEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
};

// `count` records that the kernel had no room for.
struct LostEvent {
  uint64_t time_ns = 0;
  uint64_t count = 0;
};

enum class SideFileKind : uint32_t {
  kVdso = 1,         // image of the vdso
  kPerfMap = 2,      // /tmp/perf-PID.map
  kJitDump = 3,      // jit-PID.dump
  kKallsyms = 4,     // /proc/kallsyms
  kModuleImage = 5,  // an ELF file that the reader could not find: deleted, or inside a container
  // Of the GDB JIT interface, one name per object:
  kGdbJitObject = 6,  // the ELF file in memory that a runtime registered
  kGdbJitGone = 7,    // it was taken back; no bytes
};

// What code that was made at run time is known by.
constexpr bool is_jit_file(SideFileKind kind) {
  return kind == SideFileKind::kPerfMap || kind == SideFileKind::kJitDump ||
         kind == SideFileKind::kGdbJitObject || kind == SideFileKind::kGdbJitGone;
}

// More bytes of a file that only the recording machine has. Pieces of one file come in order of offset; the
// name is the path as the process saw it.
struct SideFileEvent {
  uint64_t time_ns = 0;
  SideFileKind kind{};
  uint32_t pid = 0;     // 0 when it belongs to no process
  uint64_t device = 0;  // st_dev and st_ino of a module image, else 0
  uint64_t inode = 0;
  std::string path;
  uint64_t offset = 0;
  // When the file was last looked at, without these bytes (kGdbJitGone: with the object still there): what
  // they tell happened between then and time_ns. 0: nobody had looked before.
  uint64_t previous_look_ns = 0;
  uint64_t whole_size = 0;  // of a kGdbJitObject, all pieces together; else 0
  Bytes bytes;
};

// What the recorder saw of a mapped file while it was mapped.
struct ModuleEvent {
  struct Load {
    FileOffset offset;
    ElfAddr start;
    uint64_t file_size = 0;
    uint64_t memory_size = 0;
    uint32_t flags = 0;
  };
  std::string path;  // as in the MapEvent
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  BuildId build_id;
  std::vector<Load> loads;
};

using Event =
    std::variant<Sample, MapEvent, CommEvent, ForkEvent, ExitEvent, LostEvent, SideFileEvent, ModuleEvent>;

}  // namespace jitprof
