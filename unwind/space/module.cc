// SPDX-License-Identifier: Apache-2.0
#include "unwind/space/module.h"

#include <elf.h>

namespace jitprof {

Bytes Module::code_from(ElfAddr position) const {
  if (elf) {
    Bytes code = elf->bytes_from(position);
    if (!code.empty() || kind != Kind::kJit) return code;
    // Objects that were never linked have no segments.
    for (const ElfSection& section : elf->sections()) {
      uint64_t inside = position.distance_from(section.start);
      Bytes bytes = (section.flags & SHF_EXECINSTR) != 0 ? elf->raw(section) : Bytes();
      if (inside < bytes.size()) return bytes.subspan(inside);
    }
    return {};
  }
  if (jit == nullptr || position.value >= jit->bytes.size()) return {};
  return Bytes(jit->bytes).subspan(position.value);
}

const char* describe(Module::Problem problem) {
  switch (problem) {
    case Module::Problem::kNone:
      return "";
    case Module::Problem::kMissing:
      return "the file is not there (--symfs DIR finds it below DIR)";
    case Module::Problem::kUnreadable:
      return "the file is not a readable ELF file";
    case Module::Problem::kOtherBuildId:
      return "the file there is another build than the one recorded (--symfs DIR finds others below DIR)";
  }
  return "";
}

}  // namespace jitprof
