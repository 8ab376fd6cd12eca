// SPDX-License-Identifier: Apache-2.0
#include "profiler/module_tracker.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <vector>

#include "base/elf_file.h"
#include "profiler/clock.h"
#include "profiler/process_files.h"
#include "profiler/record_writers.h"

namespace jitprof {
namespace {

// Descriptors are needed for events as well. Files beyond this are looked at, but not kept.
constexpr size_t kMaxOpenFiles = 256;
// Of all files put into one recording.
constexpr uint64_t kMaxEmbeddedBytes = 512u << 20;
// No linker makes as many; a record must fit a chunk.
constexpr size_t kMaxLoads = 1024;
constexpr uint32_t kPtLoad = 1;

ModuleEvent describe(const Mapping& mapping, const ElfFile& elf) {
  ModuleEvent event;
  event.path = mapping.path;
  event.device_major = mapping.device_major;
  event.device_minor = mapping.device_minor;
  event.inode = mapping.inode;
  event.build_id = elf.build_id();
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type != kPtLoad || event.loads.size() == kMaxLoads) continue;
    event.loads.push_back(
        {segment.offset, segment.start, segment.file_size, segment.memory_size, segment.flags});
  }
  return event;
}

}  // namespace

void ModuleTracker::on_mapping(const Mapping& mapping) {
  if (mapping.inode == 0 || mapping.path.empty() || mapping.path.front() != '/') return;
  Key key(mapping.path, mapping.device_major, mapping.device_minor, mapping.inode);
  auto [place, is_new] = modules_.try_emplace(key);
  if (!is_new) return;
  Fd file = open_file_behind(mapping);
  struct stat status;
  if (!file.is_open() || fstat(file.number(), &status) != 0) return;
  Result<ElfFile> elf = ElfFile::open("/proc/self/fd/" + std::to_string(file.number()));
  // Fonts, jitdumps and the like are mapped executable too.
  if (!elf.ok()) return;
  ModuleEvent event = describe(mapping, elf.value());
  write_module(writer_, event);
  if (open_count_ == kMaxOpenFiles) return;
  ++open_count_;
  place->second = {std::move(file), status.st_dev, status.st_ino, event.build_id};
}

bool ModuleTracker::is_reachable(const std::string& path, const Module& module) const {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  if (status.st_dev == module.device && status.st_ino == module.inode) return true;
  if (module.build_id.empty() || !S_ISREG(status.st_mode)) return false;
  Result<ElfFile> elf = ElfFile::open(path);
  return elf.ok() && elf.value().build_id() == module.build_id;
}

void ModuleTracker::embed_unreachable() {
  for (auto& [key, module] : modules_) {
    if (!module.file.is_open() || is_reachable(std::get<0>(key), module)) continue;
    embed(key, module);
    module.file.reset();
    --open_count_;
  }
}

void ModuleTracker::embed(const Key& key, const Module& module) {
  struct stat status;
  if (fstat(module.file.number(), &status) != 0) return;
  uint64_t size = static_cast<uint64_t>(status.st_size);
  if (size > kMaxEmbeddedBytes - embedded_bytes_) return;
  embedded_bytes_ += size;
  SideFileEvent event;
  event.time_ns = monotonic_ns();
  event.kind = SideFileKind::kModuleImage;
  event.device = makedev(std::get<1>(key), std::get<2>(key));
  event.inode = std::get<3>(key);
  event.path = std::get<0>(key);
  std::vector<std::byte> piece(std::min<uint64_t>(size, format::kMaxSidePiece));
  while (event.offset < size) {
    ssize_t got = pread(module.file.number(), piece.data(), piece.size(), static_cast<off_t>(event.offset));
    if (got <= 0) return;
    event.bytes = {piece.data(), static_cast<size_t>(got)};
    write_side_file(writer_, event);
    event.offset += static_cast<uint64_t>(got);
  }
}

}  // namespace jitprof
