// SPDX-License-Identifier: Apache-2.0
#include "symbolize/inflated_image.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace jitprof {
namespace {

constexpr std::array<std::string_view, 11> kNeeded = {
    ".debug_info", ".debug_abbrev",   ".debug_str",       ".debug_str_offsets",
    ".debug_line", ".debug_line_str", ".debug_rnglists",  ".debug_ranges",
    ".debug_addr", ".debug_types",    ".gnu_debugaltlink"};

// The name under which libdw knows a section: ".zdebug_info" is an older way to say that it is compressed.
std::string plain_name(std::string_view name) {
  return name.starts_with(".zdebug_") ? "." + std::string(name.substr(2)) : std::string(name);
}

bool is_needed(const std::string& name) {
  return std::find(kNeeded.begin(), kNeeded.end(), name) != kNeeded.end();
}

void append(std::vector<std::byte>& image, const void* bytes, size_t size) {
  const auto* start = static_cast<const std::byte*>(bytes);
  image.insert(image.end(), start, start + size);
}

// libelf reads misaligned headers by copying all of them.
void align(std::vector<std::byte>& image) { image.resize((image.size() + 15) & ~size_t{15}); }

}  // namespace

bool has_compressed_sections(const ElfFile& file) {
  return std::any_of(file.sections().begin(), file.sections().end(), [](const ElfSection& section) {
    return section.name.starts_with(".zdebug_") ||
           (section.name.starts_with(".debug_") && (section.flags & SHF_COMPRESSED) != 0);
  });
}

std::vector<std::byte> inflated_image(const ElfFile& file) {
  std::vector<std::byte> image(sizeof(Elf64_Ehdr));
  std::vector<Elf64_Shdr> headers(1);
  std::string names(1, '\0');
  auto begin_section = [&](const std::string& name, uint32_t type) {
    align(image);
    Elf64_Shdr& header = headers.emplace_back();
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = type;
    header.sh_offset = image.size();
    header.sh_addralign = 1;
    names.append(name).push_back('\0');
  };
  auto end_section = [&] { headers.back().sh_size = image.size() - headers.back().sh_offset; };

  for (const ElfSection& section : file.sections()) {
    std::string name = plain_name(section.name);
    if (section.type == SHT_NOBITS || !is_needed(name) || headers.size() > 64) continue;
    Result<SectionBytes> contents = file.contents(section);
    if (!contents.ok()) continue;
    begin_section(name, SHT_PROGBITS);
    append(image, contents.value().bytes().data(), contents.value().bytes().size());
    end_section();
  }
  begin_section(".shstrtab", SHT_STRTAB);
  append(image, names.data(), names.size());
  end_section();

  align(image);
  Elf64_Ehdr elf{};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_ident[EI_VERSION] = EV_CURRENT;
  elf.e_type = ET_DYN;
  elf.e_machine = file.machine();
  elf.e_version = EV_CURRENT;
  elf.e_ehsize = sizeof elf;
  elf.e_shentsize = sizeof(Elf64_Shdr);
  elf.e_shoff = image.size();
  elf.e_shnum = static_cast<Elf64_Half>(headers.size());
  elf.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  append(image, headers.data(), headers.size() * sizeof(Elf64_Shdr));
  std::memcpy(image.data(), &elf, sizeof elf);
  return image;
}

}  // namespace jitprof
