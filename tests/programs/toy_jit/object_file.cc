// SPDX-License-Identifier: Apache-2.0
#include "object_file.h"

#include <elf.h>

#include <cstring>
#include <string>

namespace toy {
namespace {

using Bytes = std::vector<uint8_t>;

void append(Bytes& bytes, const void* from, size_t size) {
  const auto* start = static_cast<const uint8_t*>(from);
  bytes.insert(bytes.end(), start, start + size);
}

void append32(Bytes& bytes, uint32_t value) { append(bytes, &value, sizeof value); }

void store32(Bytes& bytes, size_t at, uint32_t value) { std::memcpy(&bytes[at], &value, sizeof value); }

void append_uleb(Bytes& bytes, uint32_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
  bytes.push_back(static_cast<uint8_t>(value));
}

// Pads with DW_CFA_nop and fills in the length of the entry that starts at `start`.
void end_entry(Bytes& bytes, size_t start) {
  while (bytes.size() % 8 != 0) bytes.push_back(0);
  store32(bytes, start, static_cast<uint32_t>(bytes.size() - start - 4));
}

void append_change(Bytes& bytes, const FrameState& before, const FrameState& after) {
  constexpr uint8_t kDefCfa = 0x0c, kOffset = 0x80, kRestore = 0xc0, kRbp = 6, kRsp = 7;
  bytes.push_back(kDefCfa);
  bytes.push_back(after.by_rbp ? kRbp : kRsp);
  append_uleb(bytes, static_cast<uint32_t>(after.cfa_offset));
  if (after.rbp_offset == before.rbp_offset) return;
  bytes.push_back((after.rbp_offset == 0 ? kRestore : kOffset) | kRbp);
  if (after.rbp_offset != 0) append_uleb(bytes, static_cast<uint32_t>(after.rbp_offset / -8));
}

void append_changes(Bytes& bytes, const Method& method) {
  constexpr uint8_t kAdvance4 = 0x04;
  FrameState before;
  uint32_t at = 0;
  for (const Instruction& instruction : method.instructions()) {
    if (instruction.frame == before) continue;
    bytes.push_back(kAdvance4);
    append32(bytes, instruction.offset - at);
    append_change(bytes, before, instruction.frame);
    before = instruction.frame;
    at = instruction.offset;
  }
}

enum SectionNumber : uint16_t { kNull, kText, kEhFrame, kRela, kSymtab, kStrtab, kSectionCount };
constexpr char kNames[] = "\0.text\0.eh_frame\0.rela.eh_frame\0.symtab\0.strtab";
constexpr uint32_t kNameAt[kSectionCount] = {0, 1, 7, 17, 32, 40};

struct Section {
  Elf64_Shdr header{};
  Bytes bytes;
};

Section section(SectionNumber number, uint32_t type, Bytes bytes) {
  Section made;
  made.header.sh_name = kNameAt[number];
  made.header.sh_type = type;
  made.header.sh_size = bytes.size();
  made.header.sh_addralign = 8;
  made.bytes = std::move(bytes);
  return made;
}

Section loaded(Section made, uint64_t flags, uint64_t start) {
  made.header.sh_flags = flags | SHF_ALLOC;
  made.header.sh_addr = start;
  return made;
}

Section linked(Section made, uint64_t entry_size, uint32_t link, uint32_t info) {
  made.header.sh_entsize = entry_size;
  made.header.sh_link = link;
  made.header.sh_info = info;
  return made;
}

Bytes layout(std::vector<Section>& sections) {
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = ET_REL;
  head.e_machine = EM_X86_64;
  head.e_version = EV_CURRENT;
  head.e_ehsize = sizeof head;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = kSectionCount;
  head.e_shstrndx = kStrtab;
  head.e_shoff = sizeof head;
  Bytes file;
  append(file, &head, sizeof head);
  uint64_t at = sizeof head + kSectionCount * sizeof(Elf64_Shdr);
  for (Section& each : sections) {
    each.header.sh_offset = each.header.sh_type == SHT_NULL ? 0 : at;
    append(file, &each.header, sizeof each.header);
    at += (each.bytes.size() + 7) & ~size_t{7};
  }
  for (const Section& each : sections) {
    append(file, each.bytes.data(), each.bytes.size());
    while (file.size() % 8 != 0) file.push_back(0);
  }
  return file;
}

}  // namespace

EhFrame make_eh_frame(const Method& method, bool with_position) {
  // CIE: version 1, "zR", code by 1, data by -8 (0x78), return address in 16, positions pcrel | sdata4;
  // def_cfa rsp+8, rip at CFA-8.
  constexpr uint8_t kCie[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};
  EhFrame made;
  Bytes& bytes = made.bytes;
  append32(bytes, 0);
  append32(bytes, 0);
  append(bytes, kCie, sizeof kCie);
  end_entry(bytes, 0);
  size_t fde = bytes.size();
  append32(bytes, 0);
  append32(bytes, static_cast<uint32_t>(bytes.size()));  // back to the CIE
  made.position_at = static_cast<uint32_t>(bytes.size());
  append32(bytes, with_position ? static_cast<uint32_t>(0 - (eh_frame_offset(method) + bytes.size())) : 0);
  append32(bytes, static_cast<uint32_t>(method.bytes().size()));
  bytes.push_back(0);  // no augmentation
  append_changes(bytes, method);
  end_entry(bytes, fde);
  return made;
}

std::vector<uint8_t> make_object_file(const Method& method, uint64_t start) {
  EhFrame eh_frame = make_eh_frame(method, false);
  Bytes strings(std::begin(kNames), std::end(kNames));
  Elf64_Sym symbols[3] = {};
  symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
  symbols[1].st_shndx = kText;
  symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbols[2].st_shndx = kText;
  symbols[2].st_name = static_cast<uint32_t>(strings.size());
  symbols[2].st_size = method.bytes().size();
  append(strings, method.name().c_str(), method.name().size() + 1);
  Elf64_Rela relocation{eh_frame.position_at, ELF64_R_INFO(1, R_X86_64_PC32), 0};
  Bytes symbol_bytes, relocation_bytes;
  append(symbol_bytes, symbols, sizeof symbols);
  append(relocation_bytes, &relocation, sizeof relocation);

  std::vector<Section> sections(1);
  sections.push_back(loaded(section(kText, SHT_PROGBITS, method.bytes()), SHF_EXECINSTR, start));
  sections.push_back(
      loaded(section(kEhFrame, SHT_PROGBITS, std::move(eh_frame.bytes)), 0, start + eh_frame_offset(method)));
  sections.push_back(
      linked(section(kRela, SHT_RELA, std::move(relocation_bytes)), sizeof relocation, kSymtab, kEhFrame));
  sections.push_back(
      linked(section(kSymtab, SHT_SYMTAB, std::move(symbol_bytes)), sizeof symbols[0], kStrtab, 2));
  sections.push_back(section(kStrtab, SHT_STRTAB, std::move(strings)));
  return layout(sections);
}

}  // namespace toy
