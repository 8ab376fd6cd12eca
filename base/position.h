// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace jitprof {

// The three spaces a code position can stand in. They are never mixed: a change of space goes through a Bias
// or through the ELF's segments.

// Where a byte is in a process (or, for kernel code, in the kernel).
struct RuntimeAddr {
  uint64_t value = 0;
  auto operator<=>(const RuntimeAddr&) const = default;
  constexpr RuntimeAddr plus(uint64_t bytes) const { return {value + bytes}; }
  constexpr RuntimeAddr minus(uint64_t bytes) const { return {value - bytes}; }
  constexpr uint64_t distance_from(RuntimeAddr lower) const { return value - lower.value; }
};

// Where a byte is in an ELF file's own link-time view (p_vaddr, st_value, DW_AT_low_pc).
struct ElfAddr {
  uint64_t value = 0;
  auto operator<=>(const ElfAddr&) const = default;
  constexpr ElfAddr plus(uint64_t bytes) const { return {value + bytes}; }
  constexpr ElfAddr minus(uint64_t bytes) const { return {value - bytes}; }
  constexpr uint64_t distance_from(ElfAddr lower) const { return value - lower.value; }
};

// Bytes from the start of a file.
struct FileOffset {
  uint64_t value = 0;
  auto operator<=>(const FileOffset&) const = default;
};

// RuntimeAddr - ElfAddr of one mapping of one ELF file. Wraps around for a file mapped below its link place.
struct Bias {
  uint64_t value = 0;
  auto operator<=>(const Bias&) const = default;
  constexpr RuntimeAddr to_runtime(ElfAddr position) const { return {position.value + value}; }
  constexpr ElfAddr to_elf(RuntimeAddr position) const { return {position.value - value}; }
};

}  // namespace jitprof
