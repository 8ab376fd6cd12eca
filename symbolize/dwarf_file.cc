// SPDX-License-Identifier: Apache-2.0
#include "symbolize/dwarf_file.h"

#include <gelf.h>

#include <string_view>

#include "symbolize/inflated_image.h"

namespace jitprof {

DwarfFile::DwarfFile(const ElfFile& file) {
  elf_version(EV_CURRENT);
  Bytes image = file.image();
  if (has_compressed_sections(file)) {
    inflated_ = inflated_image(file);
    image = inflated_;
  }
  // The interface takes the image as writable, but libdw only writes to headers of compressed sections.
  auto* start = const_cast<char*>(reinterpret_cast<const char*>(image.data()));
  elf_ = elf_memory(start, image.size());
  if (elf_ != nullptr) dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
}

DwarfFile::~DwarfFile() {
  if (dwarf_ != nullptr) dwarf_end(dwarf_);
  if (elf_ != nullptr) elf_end(elf_);
}

LineSections DwarfFile::line_sections() const {
  LineSections sections;
  size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return sections;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf_, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* text = elf_strptr(elf_, names, header.sh_name);
    std::string_view name = text != nullptr ? text : "";
    Bytes* place = name == ".debug_line"       ? &sections.line
                   : name == ".debug_line_str" ? &sections.line_str
                   : name == ".debug_str"      ? &sections.str
                                               : nullptr;
    if (place == nullptr) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    *place = {static_cast<const std::byte*>(data->d_buf), data->d_size};
  }
  return sections;
}

}  // namespace jitprof
