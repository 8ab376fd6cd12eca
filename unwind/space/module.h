// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/build_id.h"
#include "base/elf_file.h"
#include "base/ids.h"

namespace jitprof {

using ModuleId = Id<struct ModuleTag>;

// One body of code, told apart by path, inode and build-id. Positions in it are ElfAddr; in a module without
// an ELF file (kernel text, anonymous memory) the bias is 0, so that ElfAddr and RuntimeAddr are one number.
struct Module {
  enum class Kind { kFile, kVdso, kKernel, kKernelModule, kAnonymous };
  // Why there are no bytes to look into; counted in the footer.
  enum class Problem : uint8_t { kNone, kMissing, kUnreadable, kOtherBuildId };

  ModuleId id;
  Kind kind = Kind::kFile;
  // As the process saw it, without " (deleted)": "/usr/lib/libc.so.6", "[vdso]", "[kernel]", "//anon".
  std::string path;
  BuildId build_id;       // as recorded, else as the file has it
  std::string file_path;  // where the bytes were found; empty when embedded in the recording or absent
  std::optional<ElfFile> elf;
  Problem problem = Problem::kNone;

  // The last part of the path: what "module+0xoff" shows.
  std::string_view name() const {
    std::string_view text = path;
    size_t slash = text.rfind('/');
    return slash == std::string_view::npos || slash + 1 == text.size() ? text : text.substr(slash + 1);
  }
};

// What is wrong and what helps, in prose; "" for kNone.
const char* describe(Module::Problem problem);

}  // namespace jitprof
