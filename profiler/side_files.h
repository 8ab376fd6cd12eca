// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/added_files.h"
#include "profiler/event.h"
#include "profiler/fd.h"
#include "profiler/jit_runtime.h"
#include "profiler/recording_writer.h"
#include "profiler/side_band.h"

namespace jitprof {

// A file that grows while we copy it: what is new goes into the recording, uninterpreted. Owns the
// descriptor, so it can still be read when the process, its root and the file's name are gone.
class GrowingFile {
 public:
  // `last_look_ns`: when it was looked for and not there; 0 when nobody had.
  GrowingFile(Fd file, SideFileKind kind, uint32_t pid, std::string path, uint64_t last_look_ns);
  // Whether anything was.
  bool copy_new(RecordingWriter& writer, std::vector<std::byte>& buffer);
  uint64_t inode() const { return inode_; }

 private:
  Fd file_;
  SideFileKind kind_;
  uint32_t pid_;
  std::string path_;
  uint64_t inode_ = 0;
  uint64_t copied_ = 0;
  uint64_t last_look_ns_;
};

// What compilers inside the processes write down about their code: perf maps and jitdumps. A process is
// watched from its first executable mapping that can hold such code.
class SideFiles {
 public:
  // `jit_setup`: which of the files are there only because of us.
  SideFiles(RecordingWriter& writer, const JitSetup& jit_setup);

  void on_mapping(const Mapping& mapping);
  void on_task(const TaskRecord& task);
  // Copies what is new in all files, looking for perf maps that appeared. Whether a perf map had news.
  bool copy_new();
  // Removes the files that are there only because of us, of processes that have ended.
  void remove_added() const { added_.remove(); }

 private:
  struct Process {
    uint32_t pid = 0;
    uint32_t inner_pid = 0;
    std::string map_name;  // "perf-INNERPID.map"
    Fd temporary_folder;
    uint64_t last_map_look_ns = 0;
    bool has_ended = false;
    std::vector<GrowingFile> perf_map;  // none or one
    std::vector<GrowingFile> jit_dumps;
  };

  // `since_ns`: nothing the process wrote before is about the program it runs now.
  Process* watch(uint32_t pid, uint64_t since_ns);
  bool copy_new(Process& process);
  void find_perf_map(Process& process);

  void note_added_dump(const Process& process, const std::string& path, uint64_t inode);

  RecordingWriter& writer_;
  const bool adds_perf_maps_;
  const bool adds_jitdumps_;
  AddedFiles added_;
  std::map<uint32_t, Process> processes_;
  std::vector<std::byte> buffer_;
};

}  // namespace jitprof
