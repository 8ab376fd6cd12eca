// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/elf_file.h"

namespace jitprof {

// Whether some debug section of the file is compressed.
bool has_compressed_sections(const ElfFile& file);

// A small ELF image with the inflated debug sections that names and lines need, and no others: location lists
// alone are a sixth of the bytes. Made because libdw would inflate every section, cannot read zstd, and
// writes the inflated sizes into the headers of the image it is given. Sections that cannot be inflated are
// left out.
std::vector<std::byte> inflated_image(const ElfFile& file);

}  // namespace jitprof
