// SPDX-License-Identifier: Apache-2.0
#include "profiler/gdb_jit.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include "profiler/clock.h"
#include "profiler/event.h"
#include "profiler/record_writers.h"

namespace jitprof {
namespace {

// Each takes a descriptor, which events need as well.
constexpr size_t kMaxProcesses = 512;
constexpr size_t kMaxDescriptors = 16;
// Of all symbol files in one recording.
constexpr uint64_t kMaxCopiedBytes = 1u << 30;
// A runtime that frees code and compiles anew may get the same memory for an entry and for a symbol file of
// the same size. New entries go to the head of the list by convention: where so many in a row have the bytes
// they had, the others are taken for what they were.
constexpr size_t kLookedInto = 32;
// Of the newest object, while nothing seems to have changed.
constexpr uint64_t kQuicklyReadBytes = 64u << 10;
// A list of a million entries takes a second to read.
constexpr uint64_t kRestFactor = 20;

uint32_t checksum_of(Bytes bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

void GdbJit::on_mapping(const Mapping& mapping) {
  std::optional<RuntimeAddr> place = finder_.find(mapping);
  if (!place) return;
  auto found = processes_.find(mapping.pid);
  if (found == processes_.end()) {
    if (processes_.size() >= kMaxProcesses) return;
    found = processes_.emplace(mapping.pid, Process{mapping.pid, std::nullopt, {}}).first;
  }
  std::vector<Descriptor>& descriptors = found->second.descriptors;
  bool is_known = std::ranges::find(descriptors, *place, &Descriptor::place) != descriptors.end();
  if (is_known || descriptors.size() == kMaxDescriptors) return;
  // Nothing was in the list before its library was mapped.
  descriptors.push_back(
      {.place = *place, .last = std::nullopt, .last_look_ns = mapping.time_ns, .objects = {}});
}

void GdbJit::on_task(const TaskRecord& task) {
  auto found = processes_.find(task.pid);
  if (task.type == PERF_RECORD_EXIT && task.pid == task.tid && found != processes_.end()) {
    // Perhaps only the main thread has ended.
    if (!look_at(found->second)) processes_.erase(found);
  } else if (task.is_exec) {
    processes_.erase(task.pid);
  } else if (task.type == PERF_RECORD_FORK && task.pid != task.parent_pid) {
    processes_.erase(task.pid);
    auto parent = processes_.find(task.parent_pid);
    if (parent == processes_.end() || processes_.size() >= kMaxProcesses) return;
    // Has what its parent had when it forked, under the same names.
    Process child{task.pid, std::nullopt, parent->second.descriptors};
    for (Descriptor& descriptor : child.descriptors) {
      descriptor.last.reset();
      // Looks are more frequent than news of tasks: the parent may have registered more since.
      std::erase_if(descriptor.objects,
                    [&](const auto& known) { return known.second.copied_ns > task.time_ns; });
      for (auto& [place, object] : descriptor.objects) object.is_doubtful = true;
    }
    processes_.emplace(task.pid, std::move(child));
  }
}

bool GdbJit::look() {
  uint64_t changes_before = changes_;
  for (auto at = processes_.begin(); at != processes_.end();) {
    at = look_at(at->second) ? std::next(at) : processes_.erase(at);
  }
  return changes_ != changes_before;
}

// False when there is nothing more to see.
bool GdbJit::look_at(Process& process) {
  if (!process.memory) {
    process.memory.emplace(process.pid);
    refused_count_ += !process.memory->is_open() && (errno == EACCES || errno == EPERM);
  }
  if (!process.memory->is_open()) return false;
  for (Descriptor& descriptor : process.descriptors) look_at(process, descriptor);
  return !process.memory->is_gone();
}

void GdbJit::look_at(Process& process, Descriptor& descriptor) {
  uint64_t start_ns = monotonic_ns();
  if (start_ns < descriptor.rest_until_ns) return;
  std::optional<JitDescriptor> now = read_jit_descriptor(*process.memory, descriptor.place);
  if (!now || now->version != 1) return;
  if (has_changed(process, descriptor, *now)) {
    ++changes_;
    JitList list = read_jit_list(*process.memory, descriptor.place);
    drop_gone(process, descriptor, list);
    bool is_all = copy_new(process, descriptor, list) && list.is_whole;
    descriptor.rest_until_ns = start_ns + kRestFactor * (monotonic_ns() - start_ns);
    descriptor.last = is_all ? now : std::nullopt;
    if (!is_all) return;
  }
  descriptor.last_look_ns = start_ns;
}

bool GdbJit::has_changed(const Process& process, const Descriptor& descriptor, const JitDescriptor& now) {
  if (now != descriptor.last) return true;
  auto newest = descriptor.objects.find(now.relevant);
  if (newest == descriptor.objects.end()) return false;
  const Object& object = newest->second;
  std::optional<JitEntry> entry = read_jit_entry(*process.memory, now.relevant);
  return !entry || !is_still(process, object, *entry, object.entry.size <= kQuicklyReadBytes);
}

bool GdbJit::is_still(const Process& process, const Object& object, const JitEntry& entry, bool look_inside) {
  if (!object.entry.is_same_object(entry)) return false;
  // Nothing is known of the bytes of one that was left alone.
  if (object.name.empty()) return true;
  if (!look_inside && !object.is_doubtful && object.entry.next == entry.next) return true;
  return read_symbol_file(process, entry) == Left::kNot && checksum_of(bytes_) == object.checksum;
}

// Before new ones are copied: they may have taken the places of those that are gone.
void GdbJit::drop_gone(const Process& process, Descriptor& descriptor, const JitList& list) {
  std::set<RuntimeAddr> there;
  size_t same_in_a_row = 0;
  for (const JitEntry& entry : list.entries) {
    there.insert(entry.place);
    auto known = descriptor.objects.find(entry.place);
    if (known == descriptor.objects.end()) continue;
    if (is_still(process, known->second, entry, same_in_a_row < kLookedInto)) {
      ++same_in_a_row;
      known->second.entry = entry;
      known->second.is_doubtful = false;
    } else {
      same_in_a_row = 0;
      write_gone(process, descriptor, known->second);
      descriptor.objects.erase(known);
    }
  }
  if (!list.is_whole) return;
  std::erase_if(descriptor.objects, [&](const auto& known) {
    bool is_gone = !there.contains(known.first);
    if (is_gone) write_gone(process, descriptor, known.second);
    return is_gone;
  });
}

// The oldest first. False when one may be there and was not got.
bool GdbJit::copy_new(const Process& process, Descriptor& descriptor, const JitList& list) {
  bool is_all = true;
  for (auto entry = list.entries.rbegin(); entry != list.entries.rend(); ++entry) {
    if (!descriptor.objects.contains(entry->place)) is_all &= copy(process, descriptor, *entry);
  }
  return is_all;
}

bool GdbJit::copy(const Process& process, Descriptor& descriptor, const JitEntry& entry) {
  Left left = read_symbol_file(process, entry);
  uint32_t checksum = left == Left::kNot ? checksum_of(bytes_) : 0;
  // Freed meanwhile, its memory perhaps in other use, by an object of the same size even.
  std::optional<JitEntry> again = read_jit_entry(*process.memory, entry.place);
  if (!again || !again->is_same_object(entry) || !is_in_jit_list(*process.memory, descriptor.place, *again))
    return false;
  if (read_symbol_file(process, entry) != left || (left == Left::kNot && checksum_of(bytes_) != checksum))
    return false;
  Object object{.entry = entry, .name = {}};
  if (left == Left::kNot && bytes_.size() > kMaxCopiedBytes - copied_bytes_) left = Left::kTooLarge;
  if (left == Left::kNot) {
    char name[64];
    std::snprintf(name, sizeof name, "jit-object-0x%llx-%llu",
                  static_cast<unsigned long long>(entry.place.value),
                  static_cast<unsigned long long>(object_count_++));
    object.name = name;
    object.checksum = checksum;
    copied_bytes_ += bytes_.size();
    write(process, descriptor, object);
  }
  foreign_count_ += left == Left::kForeign;
  too_large_count_ += left == Left::kTooLarge;
  descriptor.objects.emplace(entry.place, std::move(object));
  return true;
}

GdbJit::Left GdbJit::read_symbol_file(const Process& process, const JitEntry& entry) {
  char magic[4];
  if (entry.size < sizeof magic || !process.memory->read_struct(entry.symbol_file, magic))
    return Left::kUnreadable;
  // Erlang's, for a reader of its own inside gdb.
  if (std::memcmp(magic,
                  "\x7f"
                  "ELF",
                  sizeof magic) != 0)
    return Left::kForeign;
  if (entry.size > kMaxGdbJitObject) return Left::kTooLarge;
  bytes_.resize(entry.size);
  return process.memory->read(entry.symbol_file, bytes_) ? Left::kNot : Left::kUnreadable;
}

void GdbJit::write(const Process& process, const Descriptor& descriptor, Object& object) {
  object.copied_ns = monotonic_ns();
  SideFileEvent event;
  event.time_ns = object.copied_ns;
  event.kind = SideFileKind::kGdbJitObject;
  event.pid = process.pid;
  event.path = object.name;
  event.previous_look_ns = descriptor.last_look_ns;
  event.whole_size = bytes_.size();
  event.bytes = bytes_;
  write_side_file(writer_, event);
}

void GdbJit::write_gone(const Process& process, const Descriptor& descriptor, const Object& object) {
  if (object.name.empty()) return;
  SideFileEvent event;
  event.time_ns = monotonic_ns();
  event.kind = SideFileKind::kGdbJitGone;
  event.pid = process.pid;
  event.path = object.name;
  // A list that changes all the time is never looked at as a whole.
  event.previous_look_ns = std::max(object.copied_ns, descriptor.last_look_ns);
  write_side_file(writer_, event);
}

std::vector<std::string> GdbJit::notes() const {
  std::vector<std::string> notes;
  if (refused_count_ > 0) {
    notes.push_back(
        "may not read the memory of " + std::to_string(refused_count_) +
        " processes with a GDB JIT interface, their JIT code stays unnamed: record as root or run "
        "'sudo sysctl kernel.yama.ptrace_scope=0'");
  }
  if (foreign_count_ > 0) {
    notes.push_back(std::to_string(foreign_count_) +
                    " symbol files of the GDB JIT interface are no ELF files and were left alone");
  }
  if (too_large_count_ > 0) {
    notes.push_back(std::to_string(too_large_count_) +
                    " symbol files of the GDB JIT interface are larger than 64 MiB, or 1 GiB together, and "
                    "were left alone");
  }
  return notes;
}

}  // namespace jitprof
