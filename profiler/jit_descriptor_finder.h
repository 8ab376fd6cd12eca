// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/elf_file.h"
#include "base/position.h"
#include "profiler/side_band.h"

namespace jitprof {

// Finds the `__jit_debug_descriptor` of the GDB JIT interface in the files that processes map. Looks through
// each file once, in .symtab too: in llvmlite's LLVM and in node it is a local symbol.
class JitDescriptorFinder {
 public:
  // Where the mapped file has it in the mapping's process; nullopt: nowhere.
  std::optional<RuntimeAddr> find(const Mapping& mapping);

 private:
  struct Definition {
    ElfFile elf;  // for its segments only: the file may be cut by now
    ElfAddr place;
  };
  static std::optional<Definition> look_into(const Mapping& mapping);

  // By path, device major and minor, and inode as in the mapping.
  std::map<std::tuple<std::string, uint32_t, uint32_t, uint64_t>, std::optional<Definition>> files_;
};

}  // namespace jitprof
