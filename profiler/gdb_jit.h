// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/position.h"
#include "profiler/gdb_jit_list.h"
#include "profiler/jit_descriptor_finder.h"
#include "profiler/process_memory.h"
#include "profiler/recording_writer.h"
#include "profiler/side_band.h"

namespace jitprof {

// Looks through the GDB JIT interface of every process that has one, and copies each symbol file that is
// registered there into the recording before the runtime frees it. What is registered and taken back between
// two looks is missed, and so is what came after the last look when a process ends: its memory is gone first.
class GdbJit {
 public:
  explicit GdbJit(RecordingWriter& writer) : writer_(writer) {}

  void on_mapping(const Mapping& mapping);
  void on_task(const TaskRecord& task);
  // Costs one read of 24 bytes and one of the newest symbol file per process while nothing changes. Whether
  // anything did.
  bool look();

  // One line each for the user: what could not be copied, and why.
  std::vector<std::string> notes() const;

 private:
  struct Object {
    JitEntry entry;
    std::string name;  // in the recording; empty: left alone
    uint32_t checksum = 0;
    uint64_t copied_ns = 0;
    bool is_doubtful = false;  // the parent's; perhaps not what the forked child has at that place
  };
  struct Descriptor {
    RuntimeAddr place;
    std::optional<JitDescriptor> last;  // whose list is in `objects`
    uint64_t last_look_ns = 0;
    uint64_t rest_until_ns = 0;
    std::map<RuntimeAddr, Object> objects;  // by place of their entry
  };
  struct Process {
    uint32_t pid = 0;
    std::optional<ProcessMemory> memory;
    std::vector<Descriptor> descriptors;
  };
  // Why a symbol file is not in the recording.
  enum class Left { kNot, kForeign, kTooLarge, kUnreadable };

  bool look_at(Process& process);
  void look_at(Process& process, Descriptor& descriptor);
  bool has_changed(const Process& process, const Descriptor& descriptor, const JitDescriptor& now);
  bool is_still(const Process& process, const Object& object, const JitEntry& entry, bool look_inside);
  void drop_gone(const Process& process, Descriptor& descriptor, const JitList& list);
  bool copy_new(const Process& process, Descriptor& descriptor, const JitList& list);
  bool copy(const Process& process, Descriptor& descriptor, const JitEntry& entry);
  Left read_symbol_file(const Process& process, const JitEntry& entry);
  void write(const Process& process, const Descriptor& descriptor, Object& object);
  void write_gone(const Process& process, const Descriptor& descriptor, const Object& object);

  RecordingWriter& writer_;
  JitDescriptorFinder finder_;
  std::map<uint32_t, Process> processes_;
  std::vector<std::byte> bytes_;  // of the symbol file read last
  uint64_t changes_ = 0;          // that looks have met
  uint64_t copied_bytes_ = 0;
  uint64_t object_count_ = 0;
  uint64_t foreign_count_ = 0;
  uint64_t too_large_count_ = 0;
  uint64_t refused_count_ = 0;
};

}  // namespace jitprof
