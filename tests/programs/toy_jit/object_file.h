// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "method.h"

namespace toy {

// Where the .eh_frame of code counts as lying, relative to it.
inline uint64_t eh_frame_offset(const Method& method) { return (method.bytes().size() + 7) & ~uint64_t{7}; }

// One CIE and one FDE. The FDE's position is pcrel; without it (0) a relocation is to fill it in.
struct EhFrame {
  std::vector<uint8_t> bytes;
  uint32_t position_at = 0;  // where in them the FDE's position is
};
EhFrame make_eh_frame(const Method& method, bool with_position);

// An object file as LLVM registers one with gdb: ET_REL, its sections' load places in sh_addr, the
// relocations not applied. .text, .eh_frame and .symtab are in it.
std::vector<uint8_t> make_object_file(const Method& method, uint64_t start);

}  // namespace toy
