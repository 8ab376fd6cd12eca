// SPDX-License-Identifier: Apache-2.0
#include "profiler/record_writers.h"

#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "profiler/clock.h"

namespace jitprof {
namespace {

// A record's bytes as they grow, for records with parts of any length.
class Growing {
 public:
  template <class Struct>
  void add(const Struct& part) {
    add_bytes({reinterpret_cast<const std::byte*>(&part), sizeof part});
  }
  void add_bytes(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void add_text(Bytes text) {
    add(format::Text{static_cast<uint32_t>(text.size())});
    add_bytes(text);
    pad();
  }
  void pad() { bytes_.resize(format::padded(bytes_.size())); }
  void add_text(const std::string& text) { add_text(std::as_bytes(std::span(text.data(), text.size()))); }
  // bytes_ starts with a struct whose first member is a RecordHead.
  void write(RecordingWriter& writer, format::RecordType type, uint32_t contents = 0) {
    std::byte* place = writer.append(type, bytes_.size(), contents);
    constexpr size_t kHead = sizeof(format::RecordHead);
    std::memcpy(place + kHead, bytes_.data() + kHead, bytes_.size() - kHead);
  }

 private:
  std::vector<std::byte> bytes_;
};

// What is beyond is left out: the kernel takes command lines of several MiB, and a record must fit a chunk.
constexpr size_t kMaxCommandLine = 1u << 20;
// With very many threads and CPUs not every id fits; samples carry their event's index anyway.
constexpr size_t kMaxIds = 32u << 10;

// The arguments that are kept.
size_t argument_count(const std::vector<std::string>& command_line) {
  size_t bytes = 0;
  size_t count = 0;
  for (; count < command_line.size(); ++count) {
    bytes += command_line[count].size() + sizeof(format::Text) + 8;
    if (bytes > kMaxCommandLine) break;
  }
  return count;
}

}  // namespace

void write_header(RecordingWriter& writer, const EventSet& events, const SamplingPlan& plan,
                  uint32_t cpu_count, const std::vector<std::string>& command_line) {
  Growing record;
  format::HeaderRecord header{};
  header.start_ns = monotonic_ns();
  header.start_wall_ns = clock_ns(CLOCK_REALTIME);
  header.stack_size = plan.stack_size;
  header.clock_id = CLOCK_MONOTONIC;
  header.cpu_count = cpu_count;
  header.call_graph = plan.call_graph;
  header.event_count = static_cast<uint32_t>(events.events().size());
  header.argument_count = static_cast<uint32_t>(argument_count(command_line));
  record.add(header);
  for (size_t i = 0; i < events.events().size(); ++i) {
    const std::vector<uint64_t>& ids = events.ids()[i];
    size_t id_count = std::min(ids.size(), kMaxIds / events.events().size());
    record.add(format::EventHead{sizeof(perf_event_attr), static_cast<uint32_t>(id_count)});
    record.add(events.attrs()[i]);
    record.add_bytes(std::as_bytes(std::span(ids).first(id_count)));
    record.add_text(events.events()[i].name.name);
  }
  utsname machine{};
  uname(&machine);
  record.add_text(machine.machine);
  record.add_text(machine.nodename);
  record.add_text(machine.release);
  for (size_t i = 0; i < header.argument_count; ++i) record.add_text(command_line[i]);
  record.write(writer, format::RecordType::kHeader);
}

void write_kernel_record(RecordingWriter& writer, Bytes record, uint64_t time_ns, uint32_t flags) {
  format::KernelRecord head{};
  head.time_ns = time_ns;
  head.flags = flags;
  std::byte* place = writer.append(format::RecordType::kKernel, sizeof head + record.size());
  constexpr size_t kHead = sizeof(format::RecordHead);
  std::memcpy(place + kHead, reinterpret_cast<const std::byte*>(&head) + kHead, sizeof head - kHead);
  std::memcpy(place + sizeof head, record.data(), record.size());
}

void write_side_file(RecordingWriter& writer, const SideFileEvent& event) {
  bool is_module = event.kind == SideFileKind::kVdso || event.kind == SideFileKind::kModuleImage;
  uint32_t contents = is_module                 ? format::ChunkHeader::kHasModules
                      : is_jit_file(event.kind) ? format::ChunkHeader::kIsJitFiles
                                                : 0;
  Bytes left = event.bytes;
  uint64_t offset = event.offset;
  do {
    Bytes piece = left.first(std::min<size_t>(left.size(), format::kMaxSidePiece));
    Growing record;
    format::SideFileRecord head{};
    head.time_ns = event.time_ns;
    head.kind = static_cast<uint32_t>(event.kind);
    head.pid = event.pid;
    head.device = event.device;
    head.inode = event.inode;
    head.offset = offset;
    head.byte_count = piece.size();
    record.add(head);
    record.add_text(event.path);
    record.add_bytes(piece);
    record.pad();
    record.add(format::SideFileTail{event.previous_look_ns, event.whole_size});
    record.write(writer, format::RecordType::kSideFile, contents);
    offset += piece.size();
    left = left.subspan(piece.size());
  } while (!left.empty());
}

void write_module(RecordingWriter& writer, const ModuleEvent& event) {
  Growing record;
  format::ModuleRecord head{};
  head.device_major = event.device_major;
  head.device_minor = event.device_minor;
  head.inode = event.inode;
  head.load_count = static_cast<uint32_t>(event.loads.size());
  record.add(head);
  for (const ModuleEvent::Load& load : event.loads) {
    record.add(format::ModuleLoad{load.offset.value, load.start.value, load.file_size, load.memory_size,
                                  load.flags, 0});
  }
  record.add_text(event.path);
  record.add_text(event.build_id.bytes());
  record.write(writer, format::RecordType::kModule, format::ChunkHeader::kHasModules);
}

}  // namespace jitprof
