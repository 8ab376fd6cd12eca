// SPDX-License-Identifier: Apache-2.0
#include "profiler/gdb_jit_list.h"

namespace jitprof {
namespace {

// What runtimes register is counted in thousands.
constexpr size_t kMaxEntries = 1'000'000;
constexpr int kMaxTries = 4;

struct RawDescriptor {
  uint32_t version;
  uint32_t action;
  uint64_t relevant;
  uint64_t first;
};
static_assert(sizeof(RawDescriptor) == 24);

struct RawEntry {
  uint64_t next;
  uint64_t previous;
  uint64_t symbol_file;
  uint64_t size;
};
static_assert(sizeof(RawEntry) == 32);

struct Walk {
  std::vector<JitEntry> entries;
  bool reached_end = false;
  bool links_agree = true;  // each entry names the one ahead of it as its previous one
};

Walk walk(const ProcessMemory& memory, RuntimeAddr first) {
  Walk found;
  uint64_t previous = 0;
  RuntimeAddr landmark;  // an entry passed before: whoever comes back to it goes in a circle
  RuntimeAddr place = first;
  while (place.value != 0) {
    RawEntry raw;
    size_t count = found.entries.size();
    if (place == landmark || count == kMaxEntries || !memory.read_struct(place, raw)) return found;
    if ((count & (count - 1)) == 0) landmark = place;
    found.links_agree &= raw.previous == previous;
    found.entries.push_back({place, {raw.next}, {raw.previous}, {raw.symbol_file}, raw.size});
    previous = place.value;
    place = {raw.next};
  }
  found.reached_end = true;
  return found;
}

}  // namespace

std::optional<JitDescriptor> read_jit_descriptor(const ProcessMemory& memory, RuntimeAddr place) {
  RawDescriptor raw;
  if (!memory.read_struct(place, raw)) return std::nullopt;
  return JitDescriptor{raw.version, raw.action, {raw.relevant}, {raw.first}};
}

std::optional<JitEntry> read_jit_entry(const ProcessMemory& memory, RuntimeAddr place) {
  RawEntry raw;
  if (!memory.read_struct(place, raw)) return std::nullopt;
  return JitEntry{place, {raw.next}, {raw.previous}, {raw.symbol_file}, raw.size};
}

bool is_in_jit_list(const ProcessMemory& memory, RuntimeAddr descriptor, const JitEntry& entry) {
  if (entry.previous.value != 0) {
    std::optional<JitEntry> previous = read_jit_entry(memory, entry.previous);
    return previous && previous->next == entry.place;
  }
  std::optional<JitDescriptor> head = read_jit_descriptor(memory, descriptor);
  if (!head || head->first == entry.place) return head.has_value();
  std::optional<JitEntry> first = read_jit_entry(memory, head->first);
  std::optional<JitEntry> second = first ? read_jit_entry(memory, first->next) : std::nullopt;
  return second && second->previous.value == 0;
}

JitList read_jit_list(const ProcessMemory& memory, RuntimeAddr descriptor) {
  JitList list;
  for (int i = 0; i < kMaxTries; ++i) {
    std::optional<JitDescriptor> before = read_jit_descriptor(memory, descriptor);
    if (!before) return list;
    Walk found = walk(memory, before->first);
    bool is_still = read_jit_descriptor(memory, descriptor) == before;
    // A runtime that keeps no previous links gives the same list twice.
    bool is_sound = found.links_agree || (i > 0 && found.entries == list.entries);
    list.entries = std::move(found.entries);
    list.is_whole = is_still && found.reached_end && is_sound;
    if (list.is_whole) break;
  }
  return list;
}

}  // namespace jitprof
