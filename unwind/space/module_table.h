// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/event.h"
#include "unwind/space/module.h"

namespace jitprof {

// Owns every Module until the report ends; a Module never moves. Finds a module's bytes when the module is
// first seen: embedded in the recording, below --symfs, at its own path. A file whose build-id differs from
// the recorded one is refused, and so is one at the module's path that is known to be another file.
class ModuleTable {
 public:
  // `symfs`: the folder standing for the recorded machine's root, or empty.
  explicit ModuleTable(std::string symfs) : symfs_(std::move(symfs)) {}

  // Takes in images and recorded build-ids (SideFileEvent kVdso and kModuleImage, ModuleEvent); others are
  // ignored. Bytes are looked for once, when a module is first resolved; the recorder writes an image only
  // when the process or the recording ends. So a file is played twice: all these events first.
  void apply(const SideFileEvent& event);
  void apply(const ModuleEvent& event);

  // The module behind a mapping, made on first sight.
  Module& resolve(const MapEvent& mapping);
  // Where a mapping of that module puts it. By the file's PT_LOADs, else by those that were recorded; where
  // neither is known, module+0xoff counts in file offsets.
  Bias bias_of(const Module& module, const MapEvent& mapping) const;

  // The module that code made at run time is; the same for the same code. Takes its object file.
  const Module& module_of(JitCode& code);
  // Code of the module's file has this name, says a compiler.
  void publish_name(ModuleId id, ElfAddr start, uint64_t size, const std::string& name);

  const Module& module(ModuleId id) const { return modules_[id.index]; }
  size_t size() const { return modules_.size(); }
  const std::deque<Module>& modules() const { return modules_; }

 private:
  // Path without " (deleted)", device, inode: what one file of one machine is known by.
  using FileKey = std::tuple<std::string, uint64_t, uint64_t>;
  void load_vdso(Module& module);
  void load_file(const FileKey& key, const MapEvent& mapping, Module& module);

  std::string symfs_;
  std::deque<Module> modules_;
  std::map<std::pair<FileKey, BuildId>, ModuleId> ids_;
  std::map<FileKey, std::vector<std::byte>> images_;
  std::map<FileKey, ModuleEvent> recorded_;
  std::vector<std::byte> vdso_;
  std::unordered_map<const JitCode*, ModuleId> of_code_;
};

}  // namespace jitprof
