// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/fd.h"

namespace jitprof {

// Files that recorded processes wrote only because we asked them to. Owns a descriptor of each one's folder,
// since the process and its view of the file system are gone when the file may go.
class AddedFiles {
 public:
  // `folder` is where the process of this pid wrote `name`; `inode` tells it from one written later.
  void add(Fd folder, std::string name, uint64_t inode, uint32_t pid);
  // The logs with next to nothing in them that V8 opens beside its jitdump: "isolate-0x…-PID-v8.log".
  void add_v8_logs(Fd folder, uint32_t inner_pid, uint32_t pid);
  // Removes those of processes that have ended.
  void remove() const;

 private:
  struct File {
    Fd folder;
    std::string name;
    uint64_t inode = 0;
    uint32_t pid = 0;
  };
  std::vector<File> files_;
  std::vector<File> logs_;  // by the end of their names
};

}  // namespace jitprof
