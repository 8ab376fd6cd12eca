// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/elf_file.h"
#include "unwind/space/module.h"

namespace jitprof {

// Whether the file holds DWARF of its own.
bool has_debug_sections(const ElfFile& file);

// What a search for a module's separate debug file came to.
struct DebugFileSearch {
  std::optional<ElfFile> file;
  unsigned refused = 0;  // files at the right place that belong to another build
};

// Looks for the debug file of a module at DIR/.build-id/xx/yyyy.debug and DIR/<path of the module>.debug by
// build-id, then under its .gnu_debuglink name beside the module, in .debug/ there and in DIR/<folder of the
// module>/ by CRC. Opens local files only; never asks a server.
DebugFileSearch find_debug_file(const Module& module, const std::vector<std::string>& directories);

}  // namespace jitprof
