// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/elf_file.h"

namespace jitprof {

// Applies an ELF image's own relocations to it and moves its symbols to where its sections lie: sh_addr of
// sections that are loaded, 0 of others, whatever they say (a runtime that loads debug sections too puts
// their place there, but references among them are offsets). Relocations may have been applied before: the
// result is the same. Source: System V ABI, AMD64 supplement, 4.4.
class ElfRelocator {
 public:
  // `image` is what `elf` was parsed from, and is changed; both outlive this.
  ElfRelocator(const ElfFile& elf, std::vector<std::byte>& image) : elf_(elf), image_(image) {}

  // Before move_symbols(), which changes what they refer to.
  void apply_relocations();
  void move_symbols();

  // What was left undone, in plain prose.
  const std::map<std::string, uint64_t>& shortfalls() const { return shortfalls_; }

 private:
  void apply_section(const ElfSection& relocations, const ElfSection& target, const ElfSection& symbols);
  void apply(const ElfSection& target, uint64_t offset, uint32_t type, uint64_t value, uint64_t addend);
  template <class Number>
  void store(const ElfSection& target, uint64_t offset, uint64_t value);

  const ElfFile& elf_;
  std::vector<std::byte>& image_;
  std::map<std::string, uint64_t> shortfalls_;
};

}  // namespace jitprof
