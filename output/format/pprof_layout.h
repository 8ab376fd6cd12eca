// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/profile.h"

namespace jitprof {

// The made-up process that a pprof file describes. Frames know positions in files, and a profile may have had
// a file at many places, but a pprof Location has one position in one process. So a fixed executable
// (ET_EXEC) lies where it is linked and each other file at a place of its own from 0x7f0000000000 on, in
// pages and by file offset as the kernel maps it: a reader that goes back through the mapping and the file's
// PT_LOAD, as pprof does before it asks addr2line or objdump, arrives at the frame's ElfAddr. Kernel code and
// code of no file ("[jit]") stay where they were; a position in no mapping and a bracket frame have no
// mapping.
struct PprofLayout {
  struct Mapping {
    uint64_t start = 0;
    uint64_t limit = 0;
    uint64_t file_offset = 0;
    std::string file;
    std::string build_id;  // hex
  };
  struct Place {
    uint64_t mapping_id = 0;  // from 1; 0: none
    uint64_t position = 0;
  };
  std::vector<Mapping> mappings;  // the program's own first, as pprof expects, then in order of first use
  std::vector<Place> places;      // by frame id
};

// For the frames in `used`, each once.
PprofLayout lay_out_for_pprof(const Profile& profile, const std::vector<ProfileFrameId>& used);

}  // namespace jitprof
