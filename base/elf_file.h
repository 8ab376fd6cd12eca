// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_id.h"
#include "base/mapped_file.h"
#include "base/position.h"
#include "base/result.h"

namespace jitprof {

// A program header.
struct ElfSegment {
  uint32_t type = 0;   // PT_*
  uint32_t flags = 0;  // PF_*
  FileOffset offset;
  ElfAddr start;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
};

// A section header; `name` views the file.
struct ElfSection {
  std::string_view name;
  uint32_t type = 0;   // SHT_*
  uint64_t flags = 0;  // SHF_*
  ElfAddr start;
  FileOffset offset;
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t entry_size = 0;
};

// A function or untyped code symbol of .symtab or .dynsym; `name` views the file, version suffixes kept.
struct ElfSymbol {
  ElfAddr start;
  uint64_t size = 0;
  std::string_view name;
  uint8_t type = 0;     // STT_*
  uint8_t binding = 0;  // STB_*
};

// The bytes of a section as a reader wants them: inflated if they were compressed, else viewing the file.
class SectionBytes {
 public:
  explicit SectionBytes(Bytes in_file) : bytes_(in_file) {}
  explicit SectionBytes(std::vector<std::byte> inflated)
      : inflated_(std::move(inflated)), bytes_(inflated_) {}
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::byte> inflated_;
  Bytes bytes_;
};

// Name and CRC of a .gnu_debuglink section.
struct DebugLink {
  std::string file_name;
  uint32_t crc = 0;
};

// A 64-bit little-endian ELF file, read with every offset checked: a damaged header table leaves the part
// that could be read and never reads outside the file. Owns the file's bytes; everything it hands out views
// them. Immutable once opened, so it may be shared by threads.
class ElfFile {
 public:
  // Errors: cannot be opened, not ELF, or of another class or byte order.
  static Result<ElfFile> open(const std::string& path);
  // `name` stands for the path in messages.
  static Result<ElfFile> parse(MappedFile file, const std::string& name);

  uint16_t machine() const { return machine_; }  // EM_*
  uint16_t type() const { return type_; }        // ET_*
  ElfAddr entry() const { return entry_; }       // where the kernel starts the program; 0: nowhere
  Bytes image() const { return file_.bytes(); }

  const std::vector<ElfSegment>& segments() const { return segments_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  // The first section of that name with a kind of content (SHT_NOBITS excluded); nullptr when absent.
  const ElfSection* find_section(std::string_view name) const;
  // The section's bytes as they are in the file; empty when they lie outside it.
  Bytes raw(const ElfSection& section) const;
  // Inflates SHF_COMPRESSED (zlib, zstd) and .zdebug_*; at most 4 GiB and 1,100 times the compressed size.
  Result<SectionBytes> contents(const ElfSection& section) const;
  // File bytes from `start` to the end of its segment's file part; empty outside all segments.
  Bytes bytes_from(ElfAddr start) const;

  // Bias of a mapping that puts the file's bytes from `offset` on at `start`: by the PT_LOAD that covers the
  // offset, because p_vaddr need not equal p_offset (lld, node). ET_EXEC is 0 but for copies of its
  // text elsewhere (V8's builtins). nullopt when no PT_LOAD covers the offset.
  std::optional<Bias> bias_of(RuntimeAddr start, FileOffset offset) const;

  BuildId build_id() const;
  std::optional<DebugLink> debug_link() const;
  // Defined symbols that can name code (STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE in an executable section),
  // .symtab and .dynsym together, unsorted, duplicates kept.
  std::vector<ElfSymbol> code_symbols() const;
  // The first defined data symbol of that name, .dynsym and .symtab alike. Does not look at the names of
  // other kinds of symbols, which in large libraries are most.
  std::optional<ElfSymbol> find_data_symbol(std::string_view name) const;

 private:
  ElfFile() = default;
  template <class Visit>
  void visit_symbols(Visit visit) const;
  bool is_linked_at(ElfAddr position) const;
  void read_segments(uint64_t table, uint64_t entry_size, uint64_t count);
  void read_sections(uint64_t table, uint64_t entry_size, uint64_t count, uint64_t names_index);

  MappedFile file_;
  uint16_t machine_ = 0;
  uint16_t type_ = 0;
  ElfAddr entry_;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> sections_;
};

}  // namespace jitprof
