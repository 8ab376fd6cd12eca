// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/elf_relocator.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace jitprof {
namespace {

bool is_loaded(const ElfSection& section) { return (section.flags & SHF_ALLOC) != 0; }

uint64_t base_of(const ElfSection& section) { return is_loaded(section) ? section.start.value : 0; }

// From the section's first byte on. What calls itself linked may still mean offsets in sections, as an object
// of which only e_type and sh_addr were changed does (wasmtime).
uint64_t offset_in(const ElfFile& elf, const ElfSection& section, uint64_t position) {
  uint64_t base = base_of(section);
  bool is_place = elf.type() != ET_REL && position >= base && position - base <= section.size;
  return is_place ? position - base : position;
}

Elf64_Sym symbol_at(Bytes table, uint64_t index, bool& ok) {
  ByteReader reader(table);
  ok = index <= table.size() / sizeof(Elf64_Sym);
  if (ok) reader.seek(index * sizeof(Elf64_Sym));
  auto symbol = reader.read<Elf64_Sym>();
  ok = ok && reader.ok();
  return symbol;
}

const ElfSection* section_of(const ElfFile& elf, const Elf64_Sym& symbol) {
  bool is_defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE;
  return is_defined && symbol.st_shndx < elf.sections().size() ? &elf.sections()[symbol.st_shndx] : nullptr;
}

// Where the symbol lies; nullopt for one of another object.
std::optional<uint64_t> value_of(const ElfFile& elf, const Elf64_Sym& symbol) {
  if (symbol.st_shndx == SHN_ABS) return symbol.st_value;
  const ElfSection* section = section_of(elf, symbol);
  if (section == nullptr) return std::nullopt;
  return base_of(*section) + offset_in(elf, *section, symbol.st_value);
}

// Of code and of what tells of it; data is of no interest.
bool is_wanted(const ElfSection& section) {
  return section.name.starts_with(".debug_") || section.name == ".eh_frame" ||
         (section.flags & SHF_EXECINSTR) != 0;
}

}  // namespace

void ElfRelocator::apply_relocations() {
  // Each entry of a sound file is applied once; section headers that name the same bytes again and again must
  // not multiply the work.
  uint64_t left = image_.size() / sizeof(Elf64_Rela);
  const std::vector<ElfSection>& sections = elf_.sections();
  for (const ElfSection& relocations : sections) {
    bool has_both =
        relocations.info != 0 && relocations.info < sections.size() && relocations.link < sections.size();
    if ((relocations.type != SHT_RELA && relocations.type != SHT_REL) || !has_both) continue;
    const ElfSection& target = sections[relocations.info];
    if (!is_wanted(target) || elf_.raw(target).empty()) continue;
    uint64_t count = elf_.raw(relocations).size() / sizeof(Elf64_Rela);
    if (relocations.type == SHT_REL || (target.flags & SHF_COMPRESSED) != 0 || count > left) {
      ++shortfalls_["sections of JIT objects whose relocations could not be applied"];
      continue;
    }
    left -= count;
    apply_section(relocations, target, sections[relocations.link]);
  }
}

void ElfRelocator::apply_section(const ElfSection& relocations, const ElfSection& target,
                                 const ElfSection& symbols) {
  // elf_ views bytes of its own: what is changed in the image does not change these.
  ByteReader reader(elf_.raw(relocations));
  Bytes table = elf_.raw(symbols);
  bool is_code = (target.flags & SHF_EXECINSTR) != 0;
  while (reader.remaining() >= sizeof(Elf64_Rela)) {
    auto entry = reader.read<Elf64_Rela>();
    bool ok = false;
    Elf64_Sym symbol = symbol_at(table, ELF64_R_SYM(entry.r_info), ok);
    std::optional<uint64_t> value = ok ? value_of(elf_, symbol) : std::nullopt;
    if (ok && ELF64_R_SYM(entry.r_info) == 0) value = 0;
    if (value) {
      apply(target, offset_in(elf_, target, entry.r_offset), ELF64_R_TYPE(entry.r_info), *value,
            static_cast<uint64_t>(entry.r_addend));
    } else if (!is_code && !(ok && symbol.st_shndx == SHN_UNDEF)) {
      // Of another object's functions nothing here needs the place.
      ++shortfalls_["relocations of JIT objects that could not be applied"];
    }
  }
}

void ElfRelocator::apply(const ElfSection& target, uint64_t offset, uint32_t type, uint64_t value,
                         uint64_t addend) {
  uint64_t sum = value + addend;
  uint64_t place = base_of(target) + offset;
  switch (type) {
    case R_X86_64_NONE:
    case R_X86_64_DTPOFF32:  // places of thread-local variables
    case R_X86_64_DTPOFF64:
      return;
    case R_X86_64_64:
      return store<uint64_t>(target, offset, sum);
    case R_X86_64_PC64:
      return store<uint64_t>(target, offset, sum - place);
    case R_X86_64_32:
    case R_X86_64_32S:
      return store<uint32_t>(target, offset, sum);
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      return store<uint32_t>(target, offset, sum - place);
    default:
      // Code goes through tables that only the process has.
      if ((target.flags & SHF_EXECINSTR) == 0)
        ++shortfalls_["relocations of JIT objects that could not be applied"];
  }
}

template <class Number>
void ElfRelocator::store(const ElfSection& target, uint64_t offset, uint64_t value) {
  if (offset > target.size || target.size - offset < sizeof(Number)) {
    ++shortfalls_["relocations of JIT objects that could not be applied"];
    return;
  }
  // The section lies inside the image: apply_relocations() has seen its bytes.
  auto number = static_cast<Number>(value);
  std::memcpy(image_.data() + target.offset.value + offset, &number, sizeof number);
}

void ElfRelocator::move_symbols() {
  uint64_t left = image_.size() / sizeof(Elf64_Sym);
  for (const ElfSection& section : elf_.sections()) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    Bytes table = elf_.raw(section);
    uint64_t count = table.size() / sizeof(Elf64_Sym);
    if (count > left) return;
    left -= count;
    for (uint64_t i = 0; i < count; ++i) {
      bool ok = false;
      Elf64_Sym symbol = symbol_at(table, i, ok);
      if (section_of(elf_, symbol) == nullptr) continue;
      symbol.st_value = *value_of(elf_, symbol);
      std::memcpy(image_.data() + section.offset.value + i * sizeof symbol, &symbol, sizeof symbol);
    }
  }
}

}  // namespace jitprof
