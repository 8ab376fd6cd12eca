// SPDX-License-Identifier: Apache-2.0
// Layouts: System V gABI, chapter 4 and 5; note names: GNU's .note.gnu.build-id and .gnu_debuglink.
#include "base/elf_file.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace jitprof {
namespace {

// A file with more program or section headers than this is damaged: clang compiling with -ffunction-sections
// stays below 100,000.
constexpr uint64_t kMaxHeaders = 4'000'000;
constexpr uint64_t kMaxInflated = uint64_t{4} << 30;
// What deflate reaches at best (zlib's technical notes: 1032:1); zstd's is higher only for runs of one byte.
constexpr uint64_t kMaxRatio = 1100;

Bytes slice(Bytes image, uint64_t offset, uint64_t size) {
  if (offset > image.size() || size > image.size() - offset) return {};
  return image.subspan(offset, size);
}

template <class T>
T read_at(Bytes image, uint64_t offset, bool& ok) {
  ByteReader reader(image);
  reader.seek(offset);
  T value = reader.read<T>();
  ok = reader.ok();
  return value;
}

bool is_text_at(Bytes strings, uint64_t offset, std::string_view text) {
  Bytes bytes = slice(strings, offset, text.size() + 1);
  return !bytes.empty() && std::memcmp(bytes.data(), text.data(), text.size()) == 0 &&
         bytes.back() == std::byte{0};
}

std::string_view text_at(Bytes strings, uint64_t offset) {
  ByteReader reader(strings);
  reader.seek(offset);
  return reader.c_string();
}

Result<SectionBytes> inflate(Bytes packed, uint64_t size, bool is_zstd, std::string_view name) {
  auto damaged = [&](const char* reason) {
    return Error{"compressed section " + std::string(name) + " " + reason};
  };
  if (size > kMaxInflated || size / kMaxRatio > packed.size()) return damaged("claims an impossible size");
  std::vector<std::byte> inflated(size);
  if (is_zstd) {
    size_t got = ZSTD_decompress(inflated.data(), size, packed.data(), packed.size());
    if (ZSTD_isError(got) || got != size) return damaged("is damaged");
  } else {
    uLongf got = size;
    int status = uncompress(reinterpret_cast<Bytef*>(inflated.data()), &got,
                            reinterpret_cast<const Bytef*>(packed.data()), packed.size());
    if (status != Z_OK || got != size) return damaged("is damaged");
  }
  return SectionBytes(std::move(inflated));
}

// The descriptor of the first GNU build-id note among the notes in `notes`.
BuildId find_build_id(Bytes notes) {
  ByteReader reader(notes);
  while (reader.ok() && reader.remaining() >= sizeof(Elf64_Nhdr)) {
    auto header = reader.read<Elf64_Nhdr>();
    auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
    Bytes name = reader.take(std::min(padded(header.n_namesz), reader.remaining()));
    Bytes descriptor = reader.take(std::min(padded(header.n_descsz), reader.remaining()));
    bool is_gnu = header.n_namesz == 4 && name.size() >= 4 && std::memcmp(name.data(), "GNU", 4) == 0;
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID && header.n_descsz <= descriptor.size()) {
      return BuildId(descriptor.first(header.n_descsz));
    }
  }
  return {};
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) { return parse(JP_TRY(MappedFile::open(path)), path); }

Result<ElfFile> ElfFile::parse(MappedFile file, const std::string& name) {
  Bytes image = file.bytes();
  bool ok = false;
  auto header = read_at<Elf64_Ehdr>(image, 0, ok);
  if (!ok || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Error{"'" + name + "' is not an ELF file"};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Error{"'" + name + "' is not a 64-bit little-endian ELF file"};
  }
  ElfFile elf;
  elf.machine_ = header.e_machine;
  elf.type_ = header.e_type;
  elf.entry_ = {header.e_entry};
  elf.file_ = std::move(file);

  // Counts that do not fit 16 bits stand in section header 0.
  auto first_section = read_at<Elf64_Shdr>(image, header.e_shoff, ok);
  bool has_sections = header.e_shoff != 0 && ok;
  uint64_t segment_count = header.e_phnum;
  if (segment_count == PN_XNUM) segment_count = has_sections ? first_section.sh_info : 0;
  elf.read_segments(header.e_phoff, header.e_phentsize, segment_count);
  if (has_sections) {
    uint64_t count = header.e_shnum != 0 ? header.e_shnum : first_section.sh_size;
    uint64_t names_index = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first_section.sh_link;
    elf.read_sections(header.e_shoff, header.e_shentsize, count, names_index);
  }
  return elf;
}

void ElfFile::read_segments(uint64_t table, uint64_t entry_size, uint64_t count) {
  if (entry_size < sizeof(Elf64_Phdr)) return;
  for (uint64_t i = 0; i < std::min(count, kMaxHeaders); ++i) {
    bool ok = false;
    auto raw = read_at<Elf64_Phdr>(image(), table + i * entry_size, ok);
    if (!ok) return;
    segments_.push_back({.type = raw.p_type,
                         .flags = raw.p_flags,
                         .offset = {raw.p_offset},
                         .start = {raw.p_vaddr},
                         .file_size = raw.p_filesz,
                         .memory_size = raw.p_memsz});
  }
}

void ElfFile::read_sections(uint64_t table, uint64_t entry_size, uint64_t count, uint64_t names_index) {
  if (entry_size < sizeof(Elf64_Shdr)) return;
  std::vector<uint32_t> names;
  for (uint64_t i = 0; i < std::min(count, kMaxHeaders); ++i) {
    bool ok = false;
    auto raw = read_at<Elf64_Shdr>(image(), table + i * entry_size, ok);
    if (!ok) break;
    names.push_back(raw.sh_name);
    sections_.push_back({.type = raw.sh_type,
                         .flags = raw.sh_flags,
                         .start = {raw.sh_addr},
                         .offset = {raw.sh_offset},
                         .size = raw.sh_size,
                         .link = raw.sh_link,
                         .info = raw.sh_info,
                         .entry_size = raw.sh_entsize});
  }
  if (names_index >= sections_.size()) return;
  Bytes strings = raw(sections_[names_index]);
  for (size_t i = 0; i < sections_.size(); ++i) sections_[i].name = text_at(strings, names[i]);
}

const ElfSection* ElfFile::find_section(std::string_view name) const {
  auto found = std::ranges::find_if(sections_, [&](const ElfSection& section) {
    return section.name == name && section.type != SHT_NOBITS;
  });
  return found == sections_.end() ? nullptr : &*found;
}

Bytes ElfFile::raw(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) return {};
  return slice(image(), section.offset.value, section.size);
}

Result<SectionBytes> ElfFile::contents(const ElfSection& section) const {
  Bytes bytes = raw(section);
  if (bytes.size() != section.size && section.type != SHT_NOBITS) {
    return Error{"section " + std::string(section.name) + " lies outside the file"};
  }
  ByteReader reader(bytes);
  if (section.flags & SHF_COMPRESSED) {
    auto header = reader.read<Elf64_Chdr>();
    constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which Debian 12's elf.h lacks
    if (!reader.ok() || (header.ch_type != ELFCOMPRESS_ZLIB && header.ch_type != kZstd)) {
      return Error{"section " + std::string(section.name) + " is compressed in an unknown way"};
    }
    return inflate(bytes.subspan(sizeof header), header.ch_size, header.ch_type == kZstd, section.name);
  }
  if (section.name.starts_with(".zdebug")) {
    // "ZLIB", then the inflated size, big-endian.
    Bytes magic = reader.take(4);
    uint64_t size = __builtin_bswap64(reader.u64());
    if (!reader.ok() || std::memcmp(magic.data(), "ZLIB", 4) != 0) {
      return Error{"section " + std::string(section.name) + " is not compressed as its name says"};
    }
    return inflate(bytes.subspan(12), size, false, section.name);
  }
  return SectionBytes(bytes);
}

Bytes ElfFile::bytes_from(ElfAddr start) const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD || start < segment.start) continue;
    uint64_t inside = start.distance_from(segment.start);
    if (inside >= segment.file_size) continue;
    uint64_t offset = segment.offset.value + inside;
    if (offset < inside || offset >= image().size()) continue;
    return image().subspan(offset, std::min(segment.file_size - inside, image().size() - offset));
  }
  return {};
}

bool ElfFile::is_linked_at(ElfAddr position) const {
  constexpr uint64_t kPage = 4096;
  return std::ranges::any_of(segments_, [&](const ElfSegment& segment) {
    uint64_t into = position.value - (segment.start.value & ~(kPage - 1));
    return segment.type == PT_LOAD && into < segment.memory_size + kPage;
  });
}

std::optional<Bias> ElfFile::bias_of(RuntimeAddr start, FileOffset offset) const {
  if (type_ == ET_EXEC && is_linked_at(ElfAddr{start.value})) return Bias{0};
  // The loader maps whole pages, so a mapping may begin before its segment and end behind it; where a page is
  // shared by two segments the executable one is meant.
  constexpr uint64_t kPage = 4096;
  const ElfSegment* best = nullptr;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD) continue;
    uint64_t page_start = segment.offset.value & ~(kPage - 1);
    if (offset.value < page_start || offset.value - page_start >= segment.file_size + kPage) continue;
    bool covers = offset.value < segment.offset.value + segment.file_size;
    bool better = best == nullptr || (covers && (segment.flags & PF_X) && !(best->flags & PF_X)) ||
                  (covers && offset.value >= best->offset.value + best->file_size);
    if (better) best = &segment;
  }
  if (best == nullptr) return std::nullopt;
  return Bias{start.value - (best->start.value + (offset.value - best->offset.value))};
}

BuildId ElfFile::build_id() const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_NOTE) continue;
    BuildId id = find_build_id(slice(image(), segment.offset.value, segment.file_size));
    if (!id.empty()) return id;
  }
  // Debug files keep the section but may lose the segment's bytes.
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    BuildId id = find_build_id(raw(section));
    if (!id.empty()) return id;
  }
  return {};
}

std::optional<DebugLink> ElfFile::debug_link() const {
  const ElfSection* section = find_section(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  ByteReader reader(raw(*section));
  std::string_view name = reader.c_string();
  reader.seek((reader.offset() + 3) & ~uint64_t{3});
  uint32_t crc = reader.u32();
  // A name with a slash would lead out of the folders that are searched.
  if (!reader.ok() || name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
  return DebugLink{std::string(name), crc};
}

// Calls `visit` for every defined symbol of all tables, with the table's strings, until it returns true.
// Tables that claim more bytes together than the file has are not all there: some overlap, thousands of them
// maybe.
template <class Visit>
void ElfFile::visit_symbols(Visit visit) const {
  uint64_t budget = image().size();
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    if (section.link >= sections_.size()) continue;
    Bytes strings = raw(sections_[section.link]);
    Bytes table = raw(section);
    if (table.size() > budget) return;
    budget -= table.size();
    ByteReader reader(table);
    while (reader.remaining() >= sizeof(Elf64_Sym)) {
      auto symbol = reader.read<Elf64_Sym>();
      if (symbol.st_shndx != SHN_UNDEF && visit(symbol, strings)) return;
    }
  }
}

namespace {

ElfSymbol symbol_of(const Elf64_Sym& symbol, std::string_view name) {
  return {.start = {symbol.st_value},
          .size = symbol.st_size,
          .name = name,
          .type = static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
          .binding = static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info))};
}

}  // namespace

std::vector<ElfSymbol> ElfFile::code_symbols() const {
  std::vector<ElfSymbol> symbols;
  visit_symbols([&](const Elf64_Sym& symbol, Bytes strings) {
    uint8_t type = ELF64_ST_TYPE(symbol.st_info);
    bool in_code = symbol.st_shndx < sections_.size() && (sections_[symbol.st_shndx].flags & SHF_EXECINSTR);
    bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && in_code);
    std::string_view name = is_code && symbol.st_name != 0 ? text_at(strings, symbol.st_name) : "";
    if (!name.empty()) symbols.push_back(symbol_of(symbol, name));
    return false;
  });
  return symbols;
}

std::optional<ElfSymbol> ElfFile::find_data_symbol(std::string_view name) const {
  std::optional<ElfSymbol> found;
  visit_symbols([&](const Elf64_Sym& symbol, Bytes strings) {
    bool is_it = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && is_text_at(strings, symbol.st_name, name);
    if (is_it) found = symbol_of(symbol, text_at(strings, symbol.st_name));
    return is_it;
  });
  return found;
}

}  // namespace jitprof
