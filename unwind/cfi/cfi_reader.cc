// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/cfi_reader.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>

#include "unwind/cfi/cfi_row.h"

namespace jitprof {
namespace {

// An ELF file that holds nothing but one .debug_frame. libdw gets this instead of the whole file because it
// inflates compressed debug sections by writing the new size into the section header, that is, into our
// read-only mapping (elfutils 0.188 dies there by SIGSEGV), and because it need not look at the others.
std::vector<std::byte> elf_around_debug_frame(Bytes frames) {
  static constexpr char kNames[] = "\0.debug_frame\0.shstrtab";
  uint64_t names_offset = sizeof(Elf64_Ehdr) + frames.size();
  uint64_t table_offset = (names_offset + sizeof kNames + 7) & ~uint64_t{7};
  Elf64_Shdr sections[3]{};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof(Elf64_Ehdr);
  sections[1].sh_size = frames.size();
  sections[1].sh_addralign = 1;
  sections[2].sh_name = 14;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = names_offset;
  sections[2].sh_size = sizeof kNames;
  sections[2].sh_addralign = 1;

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = table_offset;
  header.e_shnum = 3;
  header.e_shstrndx = 2;

  std::vector<std::byte> image(table_offset + sizeof sections);
  std::memcpy(image.data(), &header, sizeof header);
  if (!frames.empty()) std::memcpy(image.data() + sizeof header, frames.data(), frames.size());
  std::memcpy(image.data() + names_offset, kNames, sizeof kNames);
  std::memcpy(image.data() + table_offset, sections, sizeof sections);
  return image;
}

// libelf takes a char* but only reads an image given to it this way.
Elf* open_image(Bytes image) {
  elf_version(EV_CURRENT);
  return elf_memory(const_cast<char*>(reinterpret_cast<const char*>(image.data())), image.size());
}

std::optional<UnwindRule> find_row(Dwarf_CFI* cfi, ElfAddr position) {
  if (cfi == nullptr) return std::nullopt;
  Dwarf_Frame* frame = nullptr;
  if (dwarf_cfi_addrframe(cfi, position.value, &frame) != 0) return std::nullopt;
  std::unique_ptr<Dwarf_Frame, decltype(&std::free)> owner(frame, &std::free);
  return translate_row(frame);
}

}  // namespace

CfiReader::CfiReader(const ElfFile& elf) : elf_(elf) { open_eh_frame(); }

void CfiReader::open_eh_frame() {
  eh_elf_.reset(open_image(elf_.image()));
  // Finds the section (also of type X86_64_UNWIND) or, without section headers, PT_GNU_EH_FRAME.
  if (eh_elf_ != nullptr) eh_frame_.reset(dwarf_getcfi_elf(eh_elf_.get()));
}

void CfiReader::open_debug_frame() {
  debug_frame_was_opened_ = true;
  const ElfSection* section = elf_.find_section(".debug_frame");
  if (section == nullptr) section = elf_.find_section(".zdebug_frame");
  if (section == nullptr) return;
  auto contents = elf_.contents(*section);
  if (!contents.ok()) return;
  debug_image_ = elf_around_debug_frame(contents.value().bytes());
  debug_elf_.reset(open_image(debug_image_));
  if (debug_elf_ == nullptr) return;
  debug_dwarf_.reset(dwarf_begin_elf(debug_elf_.get(), DWARF_C_READ, nullptr));
  if (debug_dwarf_ != nullptr) debug_frame_ = dwarf_getcfi(debug_dwarf_.get());
}

std::optional<UnwindRule> CfiReader::find(ElfAddr position) {
  if (auto rule = find_row(eh_frame_.get(), position)) return rule;
  if (!debug_frame_was_opened_) open_debug_frame();
  return find_row(debug_frame_, position);
}

}  // namespace jitprof
