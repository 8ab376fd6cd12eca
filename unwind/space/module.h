// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/build_id.h"
#include "base/elf_file.h"
#include "base/ids.h"
#include "unwind/jit/jit_code.h"

namespace jitprof {

using ModuleId = Id<struct ModuleTag>;

// One body of code, told apart by path, inode and build-id. Positions in it are ElfAddr; in a module without
// an ELF file (kernel text, anonymous memory) the bias is 0, so that ElfAddr and RuntimeAddr are one number.
// One function that was compiled at run time is a module too; its ElfAddrs count from its first byte.
struct Module {
  enum class Kind { kFile, kVdso, kKernel, kKernelModule, kAnonymous, kJit };
  // Why there are no bytes to look into; counted in the footer.
  enum class Problem : uint8_t { kNone, kMissing, kUnreadable, kOtherBuildId };

  ModuleId id;
  Kind kind = Kind::kFile;
  // As the process saw it, without " (deleted)": "/usr/lib/libc.so.6", "[vdso]", "[kernel]", "//anon"; of all
  // code made at run time "[jit]".
  std::string path;
  BuildId build_id;       // as recorded, else as the file has it
  std::string file_path;  // where the bytes were found; empty when embedded in the recording or absent
  std::optional<ElfFile> elf;
  Problem problem = Problem::kNone;
  const JitCode* jit = nullptr;  // of kJit
  // What a compiler at run time said of code that is in the file (V8's builtins), by where it starts: names
  // where the file has no symbols.
  struct PublishedName {
    uint64_t size = 0;
    std::string name;
  };
  std::map<ElfAddr, PublishedName> published_names;

  // Code from the position on, as far as it is known.
  Bytes code_from(ElfAddr position) const;

  // The last part of the path, or what the code was published as: what "module+0xoff" shows.
  std::string_view name() const {
    if (jit != nullptr && !elf) return jit->name;
    std::string_view text = path;
    size_t slash = text.rfind('/');
    return slash == std::string_view::npos || slash + 1 == text.size() ? text : text.substr(slash + 1);
  }
};

// What is wrong and what helps, in prose; "" for kNone.
const char* describe(Module::Problem problem);

}  // namespace jitprof
