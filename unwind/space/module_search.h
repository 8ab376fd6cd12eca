// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/elf_file.h"
#include "unwind/space/module.h"

namespace jitprof {

// What the recording says of a mapped file.
struct WantedFile {
  std::string path;  // without " (deleted)"
  bool was_deleted = false;
  BuildId build_id;    // empty: not recorded
  uint64_t inode = 0;  // 0: not recorded
};

struct FoundFile {
  std::optional<ElfFile> elf;
  std::string path;
  Module::Problem problem = Module::Problem::kMissing;
};

// Looks for the file below `symfs` by path, build-id and bare name, or at its own path when `symfs` is empty.
// With `symfs` the running system is another one: its file is taken only on equal build-ids. Where no
// build-id was recorded, a file at the own path must at least be no replacement: not for one that was
// deleted, and of the recorded inode. (Not of the recorded device: on btrfs and overlayfs the kernel's
// records and stat differ there, while the inodes agree.)
FoundFile find_module_file(const WantedFile& wanted, const std::string& symfs);

}  // namespace jitprof
