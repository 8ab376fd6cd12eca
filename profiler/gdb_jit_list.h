// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/position.h"
#include "profiler/process_memory.h"

namespace jitprof {

// GDB manual, "JIT Compilation Interface": `__jit_debug_descriptor` and the list behind it, as they lie in
// the memory of an x86-64 process.

struct JitDescriptor {
  uint32_t version = 0;  // 1
  uint32_t action = 0;   // of the last change: 1 registered, 2 taken back
  RuntimeAddr relevant;  // the entry it was about
  RuntimeAddr first;
  bool operator==(const JitDescriptor&) const = default;
};

struct JitEntry {
  RuntimeAddr place;
  RuntimeAddr next;
  RuntimeAddr previous;
  RuntimeAddr symbol_file;
  uint64_t size = 0;
  bool operator==(const JitEntry&) const = default;
  // Another entry ahead of it in the list, or one taken out behind it, is no other object.
  bool is_same_object(const JitEntry& other) const {
    return place == other.place && symbol_file == other.symbol_file && size == other.size;
  }
};

struct JitList {
  std::vector<JitEntry> entries;  // from the list's first on
  // It did not change while it was read, so that what is not in it is gone.
  bool is_whole = false;
};

std::optional<JitDescriptor> read_jit_descriptor(const ProcessMemory& memory, RuntimeAddr place);
std::optional<JitEntry> read_jit_entry(const ProcessMemory& memory, RuntimeAddr place);
// By its neighbours' links: an entry that was taken back keeps its bytes until its memory has another use.
// A runtime that keeps no previous links is believed.
bool is_in_jit_list(const ProcessMemory& memory, RuntimeAddr descriptor, const JitEntry& entry);
// Of a list that changes all the time, what could be read last. Bounded whatever the process holds.
JitList read_jit_list(const ProcessMemory& memory, RuntimeAddr descriptor);

}  // namespace jitprof
