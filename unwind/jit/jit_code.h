// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/elf_file.h"
#include "base/position.h"
#include "base/registers.h"
#include "unwind/jit/inline_table.h"

namespace jitprof {

// From `offset` on the code belongs to this source position.
struct JitLine {
  uint32_t offset = 0;  // from the code's first byte
  uint32_t file = 0;    // index into JitCode::files
  uint32_t line = 0;
  uint32_t column = 0;
};

// From `offset` on a frame is left like this: CFA = base + cfa_offset, the return address at CFA - 8.
struct JitFrameRow {
  uint32_t offset = 0;  // from the code's first byte
  Register base{};      // rsp or rbp
  int32_t cfa_offset = 0;
  int32_t rbp_offset = 0;  // the caller's rbp is at CFA + rbp_offset; 0: rbp is still the caller's
};

// One body of code that was made at run time, as its maker published it. What a channel does not say is
// empty.
struct JitCode {
  enum class Channel : uint8_t { kPerfMap, kJitDump, kGdbJit };
  Channel channel = Channel::kPerfMap;
  std::string name;  // as published; of an object file what it is known by
  uint64_t size = 0;
  std::vector<std::byte> bytes;  // the machine code
  // .eh_frame, and where it counts as lying: relative to the code's first byte, which is ElfAddr 0.
  std::vector<std::byte> eh_frame;
  ElfAddr eh_frame_start;
  std::vector<JitFrameRow> frame_rows;  // by offset
  std::vector<std::string> files;
  std::vector<JitLine> lines;  // by offset, of the innermost functions
  InlineTable inlines;         // empty: nothing is said of inlined methods
  // Of the GDB interface: a whole ELF file, its relocations applied, whose ElfAddrs are RuntimeAddrs. Moves
  // into the Module that is made of the code.
  std::unique_ptr<ElfFile> object;
};

// What happened to code in a process, in the order in which a channel told it.
struct JitChange {
  enum class Kind : uint8_t { kLoad, kMove, kUnload };
  uint64_t time_ns = 0;  // from when on it counts
  uint32_t pid = 0;      // as the recording knows the process
  Kind kind = Kind::kLoad;
  // Index into JitLog::codes. A code object has one kLoad for each of its sections with code. A kUnload that
  // names its code leaves alone what has taken the place since.
  static constexpr uint32_t kAnyCode = UINT32_MAX;
  uint32_t code = kAnyCode;
  RuntimeAddr start;  // kMove: where it was
  uint64_t size = 0;
  RuntimeAddr moved_to;  // kMove
};

// What all channels of a recording said of code made at run time. Grows only, so what it holds does not move.
struct JitLog {
  std::deque<JitCode> codes;
  std::vector<JitChange> changes;
  // "lines of perf maps that could not be read", …: never zero, for the footer.
  std::map<std::string, uint64_t> shortfalls;
};

}  // namespace jitprof
