// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "base/build_id.h"
#include "profiler/fd.h"
#include "profiler/recording_writer.h"
#include "profiler/side_band.h"

namespace jitprof {

// Looks at every ELF file that gets mapped while it is mapped: writes its build-id and segments, and keeps it
// open, so that at the end the whole file can be put into the recording if nobody will find it under its path
// any more (deleted, replaced by a new build, or in a container).
class ModuleTracker {
 public:
  explicit ModuleTracker(RecordingWriter& writer) : writer_(writer) {}

  void on_mapping(const Mapping& mapping);
  // Puts files that our own namespace does not show under their path into the recording, each once.
  void embed_unreachable();

 private:
  struct Module {
    Fd file;
    dev_t device = 0;  // as fstat says, which on btrfs and overlayfs is not what the mapping says
    ino_t inode = 0;
    BuildId build_id;
  };
  // path, device major and minor, inode as in the mapping.
  using Key = std::tuple<std::string, uint32_t, uint32_t, uint64_t>;

  bool is_reachable(const std::string& path, const Module& module) const;
  void embed(const Key& key, const Module& module);

  RecordingWriter& writer_;
  std::map<Key, Module> modules_;
  size_t open_count_ = 0;
  uint64_t embedded_bytes_ = 0;
};

}  // namespace jitprof
