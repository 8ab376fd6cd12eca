// SPDX-License-Identifier: Apache-2.0
#include "profiler/side_band.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "profiler/perf_event.h"

namespace jitprof {
namespace {

// Longer than any path the kernel puts into a record (PATH_MAX), so that a size fits its 16 bits.
constexpr size_t kMaxText = 4096;

class RecordBuilder {
 public:
  RecordBuilder(uint32_t type, uint16_t misc) { add(perf_event_header{type, misc, 0}); }
  template <class Value>
  RecordBuilder& add(const Value& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  // With a NUL, and zeros up to a multiple of 8.
  RecordBuilder& add_text(std::string_view text) {
    for (char c : text.substr(0, kMaxText)) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.resize((bytes_.size() + 8) & ~size_t{7});
    return *this;
  }
  std::vector<std::byte> take() {
    perf_event_header header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    header.size = static_cast<uint16_t>(bytes_.size());
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

bool Mapping::may_hold_jit_code() const {
  auto starts_with = [&](std::string_view prefix) { return path.substr(0, prefix.size()) == prefix; };
  if (path.empty() || path.front() != '/') return path != "[vdso]" && path != "[vsyscall]";
  return starts_with("//anon") || starts_with("/memfd:") || starts_with("/dev/zero") ||
         starts_with("/dev/shm/") || starts_with("/SYSV") || starts_with("/anon_hugepage") ||
         path.find(" (deleted)") != std::string_view::npos;
}

std::optional<Mapping> parse_mapping(Bytes record) {
  ByteReader reader(record);
  auto header = reader.read<perf_event_header>();
  if (header.type != PERF_RECORD_MMAP2) return std::nullopt;
  Mapping mapping;
  mapping.pid = reader.u32();
  mapping.tid = reader.u32();
  mapping.start = reader.u64();
  mapping.size = reader.u64();
  mapping.offset = reader.u64();
  mapping.device_major = reader.u32();
  mapping.device_minor = reader.u32();
  mapping.inode = reader.u64();
  reader.skip(8);
  mapping.protection = reader.u32();
  reader.skip(4);
  mapping.path = reader.c_string();
  if (!reader.ok()) return std::nullopt;
  return mapping;
}

std::optional<TaskRecord> parse_task(Bytes record) {
  ByteReader reader(record);
  auto header = reader.read<perf_event_header>();
  TaskRecord task;
  task.type = header.type;
  task.pid = reader.u32();
  if (header.type == PERF_RECORD_COMM) {
    task.tid = reader.u32();
    task.is_exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  } else if (header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) {
    task.parent_pid = reader.u32();
    task.tid = reader.u32();
    task.parent_tid = reader.u32();
  } else {
    return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  return task;
}

uint64_t trailer_time(Bytes record) {
  if (record.size() < sizeof(perf_event_header) + kTrailerBytes) return 0;
  uint64_t time = 0;
  std::memcpy(&time, record.data() + record.size() - kTrailerBytes + 8, sizeof time);
  return time;
}

std::vector<std::byte> make_mapping(const Mapping& mapping, uint16_t misc) {
  return RecordBuilder(PERF_RECORD_MMAP2, misc)
      .add(mapping.pid)
      .add(mapping.tid)
      .add(mapping.start)
      .add(mapping.size)
      .add(mapping.offset)
      .add(mapping.device_major)
      .add(mapping.device_minor)
      .add(mapping.inode)
      .add(uint64_t{0})
      .add(mapping.protection)
      .add(uint32_t{0})
      .add_text(mapping.path)
      .take();
}

std::vector<std::byte> make_comm(uint32_t pid, uint32_t tid, std::string_view comm) {
  return RecordBuilder(PERF_RECORD_COMM, 0).add(pid).add(tid).add_text(comm).take();
}

std::vector<std::byte> make_fork(uint32_t pid, uint32_t tid, uint32_t parent_pid, uint32_t parent_tid,
                                 uint64_t time_ns) {
  return RecordBuilder(PERF_RECORD_FORK, 0)
      .add(pid)
      .add(parent_pid)
      .add(tid)
      .add(parent_tid)
      .add(time_ns)
      .take();
}

std::vector<std::byte> make_lost(uint64_t count) {
  return RecordBuilder(PERF_RECORD_LOST, 0).add(uint64_t{0}).add(count).take();
}

}  // namespace jitprof
