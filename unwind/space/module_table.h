// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/event.h"
#include "unwind/space/module.h"

namespace jitprof {

// Owns every Module until the report ends; a Module never moves. Finds a module's bytes when the module is
// first seen: embedded in the recording, below --symfs, at its own path. A file whose build-id differs from
// the recorded one is refused.
class ModuleTable {
 public:
  // `symfs`: the folder standing for the recorded machine's root, or empty.
  explicit ModuleTable(std::string symfs) : symfs_(std::move(symfs)) {}

  // Takes in images and recorded build-ids (SideFileEvent kVdso and kModuleImage, ModuleEvent); others are
  // ignored. The recorder may write an image after the mappings that use it, so ELF bytes are looked for at
  // resolve time only.
  void apply(const SideFileEvent& event);
  void apply(const ModuleEvent& event);

  // The module behind a mapping, made on first sight.
  Module& resolve(const MapEvent& mapping);

  const Module& module(ModuleId id) const { return modules_[id.index]; }
  size_t size() const { return modules_.size(); }
  const std::deque<Module>& modules() const { return modules_; }

 private:
  using FileKey = std::tuple<std::string, uint64_t, uint64_t>;  // path, device, inode
  std::string symfs_;
  std::deque<Module> modules_;
  std::map<std::tuple<std::string, uint64_t, uint64_t, BuildId>, ModuleId> ids_;
  std::map<FileKey, std::vector<std::byte>> images_;
  std::map<FileKey, ModuleEvent> recorded_;
  std::vector<std::byte> vdso_;
};

}  // namespace jitprof
