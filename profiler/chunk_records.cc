// SPDX-License-Identifier: Apache-2.0
#include "profiler/chunk_records.h"

#include <time.h>

#include <string_view>
#include <type_traits>
#include <variant>

#include "profiler/perf_registers.h"

namespace jitprof {
namespace {

using Outcome = ChunkRecordDecoder::Outcome;

// format::Text: the length, the bytes, zeros up to a multiple of 8.
Bytes read_text(ByteReader& reader) {
  uint32_t size = reader.u32();
  Bytes text = reader.take(size);
  reader.skip(format::padded(sizeof size + uint64_t{size}) - sizeof size - size);
  return text;
}

std::string read_string(ByteReader& reader) {
  Bytes text = read_text(reader);
  return std::string(reinterpret_cast<const char*>(text.data()), text.size());
}

void read_chain(ByteReader& reader, uint32_t count, std::vector<RuntimeAddr>& chain) {
  chain.clear();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) chain.push_back({reader.u64()});
}

bool read_stacks(ByteReader& reader, uint32_t count, Sample& sample) {
  if (count > sample.stack.size()) return false;
  uint64_t copied[2] = {};
  for (uint32_t i = 0; i < count; ++i) {
    auto head = reader.read<format::StackHead>();
    sample.stack[i].start.value = head.start;
    sample.stack[i].asked = head.asked;
    copied[i] = head.copied;
  }
  for (uint32_t i = 0; i < count; ++i) {
    sample.stack[i].bytes = reader.take(copied[i]);
    if (reader.ok()) reader.skip(format::padded(copied[i]) - copied[i]);
  }
  sample.stack_count = count;
  return reader.ok();
}

Outcome decode_side_file(Bytes record, Event& event) {
  ByteReader reader(record);
  auto head = reader.read<format::SideFileRecord>();
  if (!reader.ok()) return Outcome::kMalformed;
  if (head.kind < static_cast<uint32_t>(SideFileKind::kVdso) ||
      head.kind > static_cast<uint32_t>(SideFileKind::kGdbJitGone)) {
    return Outcome::kIgnored;
  }
  SideFileEvent& piece = event.emplace<SideFileEvent>();
  piece.time_ns = head.time_ns;
  piece.kind = static_cast<SideFileKind>(head.kind);
  piece.pid = head.pid;
  piece.device = head.device;
  piece.inode = head.inode;
  piece.offset = head.offset;
  piece.path = read_string(reader);
  piece.bytes = reader.take(head.byte_count);
  if (!reader.ok()) return Outcome::kMalformed;
  reader.skip(format::padded(head.byte_count) - head.byte_count);
  auto tail = reader.read<format::SideFileTail>();
  // Zero where an older recorder wrote none.
  piece.previous_look_ns = tail.previous_look_ns;
  piece.whole_size = tail.whole_size;
  return Outcome::kEvent;
}

Outcome decode_module(Bytes record, Event& event) {
  ByteReader reader(record);
  auto head = reader.read<format::ModuleRecord>();
  ModuleEvent& module = event.emplace<ModuleEvent>();
  module.device_major = head.device_major;
  module.device_minor = head.device_minor;
  module.inode = head.inode;
  for (uint32_t i = 0; i < head.load_count && reader.ok(); ++i) {
    auto load = reader.read<format::ModuleLoad>();
    module.loads.push_back({{load.offset}, {load.start}, load.file_size, load.memory_size, load.flags});
  }
  module.path = read_string(reader);
  module.build_id = BuildId(read_text(reader));
  return reader.ok() ? Outcome::kEvent : Outcome::kMalformed;
}

void set_time(Event& event, uint64_t time_ns) {
  std::visit(
      [&](auto& some) {
        if constexpr (requires { some.time_ns; }) some.time_ns = time_ns;
      },
      event);
}

std::string_view name_of(format::CallGraph call_graph) {
  switch (call_graph) {
    case format::CallGraph::kStack:
      return "stack";
    case format::CallGraph::kFramePointer:
      return "fp";
    default:
      return "none";
  }
}

}  // namespace

bool ChunkRecordDecoder::read_header(Bytes record, RecordingHeader& header) {
  ByteReader reader(record);
  auto head = reader.read<format::HeaderRecord>();
  header.format = RecordingHeader::Format::kJitprof;
  header.version = format::kVersion;
  header.cpu_count = head.cpu_count;
  header.clock_is_monotonic = head.clock_id == CLOCK_MONOTONIC;
  header.start_ns = head.start_ns;
  header.start_wall_ns = head.start_wall_ns;
  header.stack_size = head.stack_size;
  header.call_graph = name_of(head.call_graph);
  for (uint32_t i = 0; i < head.event_count && reader.ok(); ++i) {
    if (!read_event(reader, header)) return false;
  }
  header.architecture = read_string(reader);
  header.host = read_string(reader);
  header.kernel_release = read_string(reader);
  for (uint32_t i = 0; i < head.argument_count && reader.ok(); ++i) {
    header.command_line.push_back(read_string(reader));
  }
  return reader.ok();
}

bool ChunkRecordDecoder::read_event(ByteReader& reader, RecordingHeader& header) {
  auto head = reader.read<format::EventHead>();
  Bytes attr_bytes = reader.take(head.attr_size);
  reader.skip(uint64_t{8} * head.id_count);
  SampledEvent event;
  event.name = read_string(reader);
  if (!reader.ok() || attr_bytes.size() < PERF_ATTR_SIZE_VER0) return false;
  perf_event_attr attr = RecordLayout::read_attr(attr_bytes);
  layouts_.push_back(RecordLayout::of(attr));
  event.is_clock = attr.type == PERF_TYPE_SOFTWARE &&
                   (attr.config == PERF_COUNT_SW_CPU_CLOCK || attr.config == PERF_COUNT_SW_TASK_CLOCK);
  (attr.freq ? event.frequency : event.period) = attr.sample_freq;
  event.user_only = attr.exclude_kernel;
  header.events.push_back(std::move(event));
  return true;
}

Outcome ChunkRecordDecoder::decode(Bytes record, Event& event) {
  was_32_bit_ = false;
  ByteReader reader(record);
  switch (reader.read<format::RecordHead>().type) {
    case format::RecordType::kKernel:
      return decode_kernel(record, event);
    case format::RecordType::kSample:
      return decode_sample(record, event);
    case format::RecordType::kSideFile:
      return decode_side_file(record, event);
    case format::RecordType::kModule:
      return decode_module(record, event);
    default:
      return Outcome::kIgnored;
  }
}

Outcome ChunkRecordDecoder::decode_kernel(Bytes record, Event& event) {
  ByteReader reader(record);
  auto head = reader.read<format::KernelRecord>();
  if (!reader.ok() || head.event >= layouts_.size()) return Outcome::kMalformed;
  bool is_snapshot = (head.flags & format::KernelRecord::kSnapshot) != 0;
  RecordLayout layout = layouts_[head.event];
  if (is_snapshot) layout.sample_id_all = false;
  // The padding of our record is none of the kernel's record's bytes.
  uint16_t size = ByteReader(reader).read<perf_event_header>().size;
  Bytes kernel_record = reader.take(size);
  if (!reader.ok() || ByteReader(kernel_record).u32() == PERF_RECORD_SAMPLE) return Outcome::kMalformed;
  switch (kernel_.decode(kernel_record, layout, event)) {
    case KernelRecordDecoder::Outcome::kMalformed:
      return Outcome::kMalformed;
    case KernelRecordDecoder::Outcome::kEvent:
      break;
    default:
      return Outcome::kIgnored;
  }
  set_time(event, head.time_ns);
  if (auto* fork = std::get_if<ForkEvent>(&event)) fork->is_snapshot = is_snapshot;
  return Outcome::kEvent;
}

Outcome ChunkRecordDecoder::decode_sample(Bytes record, Event& event) {
  ByteReader reader(record);
  auto head = reader.read<format::SampleRecord>();
  if (!reader.ok() || head.event >= layouts_.size()) return Outcome::kMalformed;
  Sample& sample = event.emplace<Sample>();
  sample.time_ns = head.time_ns;
  sample.pid = head.pid;
  sample.tid = head.tid;
  sample.cpu = head.cpu;
  sample.event = head.event;
  sample.period = head.period;
  sample.ip.value = head.ip;
  sample.in_kernel = (head.flags & format::SampleRecord::kInKernel) != 0;
  was_32_bit_ = (head.flags & format::SampleRecord::kUser32Bit) != 0;
  sample.registers = read_perf_registers(head.register_mask, reader);
  read_chain(reader, head.kernel_chain_count, kernel_chain_);
  read_chain(reader, head.user_chain_count, user_chain_);
  sample.kernel_chain = kernel_chain_;
  sample.user_chain = user_chain_;
  return read_stacks(reader, head.stack_count, sample) ? Outcome::kEvent : Outcome::kMalformed;
}

}  // namespace jitprof
