// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/read_recording.h"

#include <sstream>
#include <variant>

#include "base/mapped_file.h"

namespace jitprof::tests {
namespace {

struct Describer {
  std::ostringstream& out;

  void operator()(const Sample& sample) const {
    out << "sample " << sample.time_ns << " " << sample.pid << "/" << sample.tid << " cpu" << sample.cpu
        << " event" << sample.event << " period " << sample.period << " ip " << std::hex << sample.ip.value
        << (sample.in_kernel ? " kernel" : "");
    for (RuntimeAddr pc : sample.kernel_chain) out << " k:" << pc.value;
    for (RuntimeAddr pc : sample.user_chain) out << " u:" << pc.value;
    for (unsigned i = 0; i < kRegisterCount; ++i) {
      auto number = static_cast<Register>(i);
      if (sample.registers.knows(number))
        out << " " << name_of(number) << "=" << *sample.registers.find(number);
    }
    for (uint32_t i = 0; i < sample.stack_count; ++i) {
      const StackSegment& stack = sample.stack[i];
      out << " stack " << std::hex << stack.start.value << std::dec << "+" << stack.bytes.size() << "/"
          << stack.asked;
    }
  }
  void operator()(const MapEvent& map) const {
    out << "map " << map.time_ns << " " << map.pid << " " << std::hex << map.start.value << "+" << map.size
        << "@" << map.offset.value << std::dec << " " << map.device_major << ":" << map.device_minor << " "
        << map.inode << (map.is_executable ? " x" : "") << (map.in_kernel ? " kernel" : "") << " " << map.path
        << " " << map.build_id.hex();
  }
  void operator()(const CommEvent& comm) const {
    out << "comm " << comm.time_ns << " " << comm.pid << "/" << comm.tid << " " << comm.comm
        << (comm.is_exec ? " exec" : "");
  }
  void operator()(const ForkEvent& fork) const {
    out << "fork " << fork.time_ns << " " << fork.pid << "/" << fork.tid << " of " << fork.parent_pid << "/"
        << fork.parent_tid << (fork.is_snapshot ? " snapshot" : "");
  }
  void operator()(const ExitEvent& exit) const {
    out << "exit " << exit.time_ns << " " << exit.pid << "/" << exit.tid;
  }
  void operator()(const LostEvent& lost) const { out << "lost " << lost.time_ns << " " << lost.count; }
  void operator()(const SideFileEvent& piece) const {
    out << "side " << piece.time_ns << " kind" << static_cast<uint32_t>(piece.kind) << " " << piece.pid << " "
        << piece.path << "@" << piece.offset << "+" << piece.bytes.size();
    if (piece.previous_look_ns != 0) out << " since " << piece.previous_look_ns;
    if (piece.whole_size != 0) out << " of " << piece.whole_size;
  }
  void operator()(const ModuleEvent& module) const {
    out << "module " << module.path << " " << module.inode << " " << module.build_id.hex() << " loads "
        << module.loads.size();
  }
};

ReadRecording read(const std::string& bytes, const std::string& name, WorkerPool* helpers,
                   Recording::Earlier earlier) {
  const auto* start = reinterpret_cast<const std::byte*>(bytes.data());
  ReadRecording result;
  Result<Recording> opened =
      Recording::parse(MappedFile::from_memory({start, start + bytes.size()}), name, helpers);
  if (!opened.ok()) {
    result.error = opened.error().message;
    return result;
  }
  Recording& recording = opened.value();
  while (true) {
    Result<const Event*> event = recording.next(earlier);
    if (!event.ok()) {
      result.error = event.error().message;
      break;
    }
    if (event.value() == nullptr) break;
    result.events.push_back(describe(*event.value()));
  }
  result.header = recording.header();
  result.shortfalls = recording.shortfalls();
  return result;
}

}  // namespace

std::string describe(const Event& event) {
  std::ostringstream out;
  std::visit(Describer{out}, event);
  return out.str();
}

ReadRecording read_recording(const std::string& bytes, const std::string& name) {
  ReadRecording result = read(bytes, name, nullptr, Recording::Earlier::kDrop);
  WorkerPool pool(3);
  ReadRecording again = read(bytes, name, &pool, Recording::Earlier::kKeep);
  if (again.events != result.events || again.error != result.error || again.shortfalls != result.shortfalls)
    result.error += " (and it reads differently with more threads)";
  return result;
}

}  // namespace jitprof::tests
