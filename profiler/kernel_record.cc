// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_record.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace jitprof {
namespace {

using Outcome = KernelRecordDecoder::Outcome;

constexpr uint64_t kHeadSize = sizeof(perf_event_header);

unsigned words_of(uint64_t sample_type, uint64_t fields) { return std::popcount(sample_type & fields); }

// The fields at the end of every record but samples, if the event has sample_id_all ("struct sample_id").
constexpr uint64_t kTrailerFields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

uint64_t trailer_size(const RecordLayout& layout) {
  return layout.sample_id_all ? 8 * words_of(layout.sample_type, kTrailerFields) : 0;
}

// Time of the trailer; 0 when there is none, or perf made the record up (it fills the trailer with zeros or,
// for some kinds, ones).
uint64_t trailer_time(Bytes record, const RecordLayout& layout) {
  uint64_t size = trailer_size(layout);
  if (size == 0 || (layout.sample_type & PERF_SAMPLE_TIME) == 0 || record.size() < kHeadSize + size) return 0;
  ByteReader reader(record.last(size));
  if (layout.sample_type & PERF_SAMPLE_TID) reader.skip(8);
  uint64_t time_ns = reader.u64();
  return time_ns == UINT64_MAX ? 0 : time_ns;
}

bool is_kernel_mode(uint16_t misc) {
  uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
  return mode == PERF_RECORD_MISC_KERNEL;
}

bool is_guest(uint16_t misc) {
  uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
  return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

// What the kernel says of the mapped file: the inode, or (misc bit 14) the build-id in its place.
void read_file_identity(ByteReader& reader, bool has_build_id, MapEvent& map) {
  if (has_build_id) {
    uint8_t size = reader.u8();
    reader.skip(3);
    Bytes bytes = reader.take(20);
    if (!bytes.empty()) map.build_id = BuildId(bytes.first(std::min<size_t>(size, bytes.size())));
  } else {
    map.device_major = reader.u32();
    map.device_minor = reader.u32();
    map.inode = reader.u64();
    reader.skip(8);  // generation of the inode
  }
}

Outcome decode_map(const perf_event_header& head, ByteReader reader, uint64_t time_ns, Event& event) {
  if (is_guest(head.misc)) return Outcome::kIgnored;
  MapEvent& map = event.emplace<MapEvent>();
  map.time_ns = time_ns;
  map.pid = reader.u32();
  map.tid = reader.u32();
  map.start.value = reader.u64();
  map.size = reader.u64();
  map.offset.value = reader.u64();
  map.in_kernel = is_kernel_mode(head.misc);
  map.is_executable = (head.misc & PERF_RECORD_MISC_MMAP_DATA) == 0;
  if (head.type == PERF_RECORD_MMAP2) {
    read_file_identity(reader, head.misc & PERF_RECORD_MISC_MMAP_BUILD_ID, map);
    uint32_t protection = reader.u32();
    reader.skip(4);  // MAP_* flags
    // perf leaves the protection of kernel modules 0.
    if (!map.in_kernel) map.is_executable = protection & PROT_EXEC;
  }
  map.path = reader.c_string();
  return reader.ok() ? Outcome::kEvent : Outcome::kMalformed;
}

Outcome decode_comm(const perf_event_header& head, ByteReader reader, uint64_t time_ns, Event& event) {
  CommEvent& comm = event.emplace<CommEvent>();
  comm.time_ns = time_ns;
  comm.pid = reader.u32();
  comm.tid = reader.u32();
  comm.comm = reader.c_string();
  comm.is_exec = head.misc & PERF_RECORD_MISC_COMM_EXEC;
  return reader.ok() ? Outcome::kEvent : Outcome::kMalformed;
}

Outcome decode_task(const perf_event_header& head, ByteReader reader, uint64_t time_ns, bool has_trailer_time,
                    Event& event) {
  ForkEvent fork;
  fork.pid = reader.u32();
  fork.parent_pid = reader.u32();
  fork.tid = reader.u32();
  fork.parent_tid = reader.u32();
  uint64_t own_time_ns = reader.u64();
  if (!reader.ok()) return Outcome::kMalformed;
  fork.time_ns = has_trailer_time ? time_ns : own_time_ns;
  // perf marks the FORKs that it makes up for running processes with the bit, older ones by the time only.
  fork.is_snapshot = fork.time_ns == 0 || (head.misc & PERF_RECORD_MISC_FORK_EXEC) != 0;
  if (head.type == PERF_RECORD_EXIT) {
    event = ExitEvent{fork.time_ns, fork.pid, fork.tid};
  } else {
    event = fork;
  }
  return Outcome::kEvent;
}

Outcome decode_lost(const perf_event_header& head, ByteReader reader, uint64_t time_ns, Event& event) {
  if (head.type == PERF_RECORD_LOST) reader.skip(8);  // id
  event = LostEvent{time_ns, reader.u64()};
  return reader.ok() ? Outcome::kEvent : Outcome::kMalformed;
}

}  // namespace

perf_event_attr RecordLayout::read_attr(Bytes bytes) {
  perf_event_attr attr{};
  std::memcpy(&attr, bytes.data(), std::min(bytes.size(), sizeof attr));
  return attr;
}

RecordLayout RecordLayout::of(const perf_event_attr& attr) {
  RecordLayout layout;
  layout.sample_type = attr.sample_type;
  layout.read_format = attr.read_format;
  layout.branch_sample_type = attr.branch_sample_type;
  layout.user_registers = attr.sample_regs_user;
  layout.fixed_period = attr.freq ? 1 : attr.sample_period;
  layout.sample_id_all = attr.sample_id_all;
  return layout;
}

uint64_t RecordLayout::id_of(Bytes record) const {
  ByteReader reader(record);
  uint32_t type = reader.u32();
  reader.seek(kHeadSize);
  if (type == PERF_RECORD_SAMPLE) {
    if ((sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) == 0) return 0;
    if ((sample_type & PERF_SAMPLE_IDENTIFIER) == 0) {
      reader.skip(
          8 * words_of(sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
    }
    return reader.u64();
  }
  if (!sample_id_all || record.size() < kHeadSize + trailer_size(*this)) return 0;
  uint64_t from_end = 0;
  if (sample_type & PERF_SAMPLE_IDENTIFIER) {
    from_end = 8;
  } else if (sample_type & PERF_SAMPLE_ID) {
    from_end = 8 * (1 + words_of(sample_type, PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
  }
  return from_end == 0 ? 0 : ByteReader(record.last(from_end)).u64();
}

Outcome KernelRecordDecoder::decode(Bytes record, const RecordLayout& layout, Event& event) {
  was_32_bit_ = false;
  ByteReader reader(record);
  auto head = reader.read<perf_event_header>();
  if (!reader.ok()) return Outcome::kMalformed;
  uint64_t time_ns = trailer_time(record, layout);
  switch (head.type) {
    case PERF_RECORD_SAMPLE:
      return decode_sample(head.misc, record.subspan(kHeadSize), layout, event);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      return decode_map(head, reader, time_ns, event);
    case PERF_RECORD_COMM:
      return decode_comm(head, reader, time_ns, event);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: {
      bool has_trailer_time = layout.sample_id_all && (layout.sample_type & PERF_SAMPLE_TIME) != 0;
      return decode_task(head, reader, time_ns, has_trailer_time, event);
    }
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
      return decode_lost(head, reader, time_ns, event);
    case PERF_RECORD_AUX:
      return Outcome::kAuxTrace;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
    case PERF_RECORD_READ:
    case PERF_RECORD_ITRACE_START:
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
    case PERF_RECORD_NAMESPACES:
    case PERF_RECORD_KSYMBOL:
    case PERF_RECORD_BPF_EVENT:
    case PERF_RECORD_CGROUP:
    case PERF_RECORD_TEXT_POKE:
    case PERF_RECORD_AUX_OUTPUT_HW_ID:
      return Outcome::kIgnored;
    default:
      return Outcome::kUnknown;
  }
}

}  // namespace jitprof
