// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/gdb_jit_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "base/elf_file.h"
#include "unwind/jit/elf_relocator.h"

namespace jitprof {
namespace {

// LLVM with a section per function stays below 10,000.
constexpr size_t kMaxCodeSections = 100'000;
// User space of x86-64, with five levels of page tables.
constexpr uint64_t kHighestPlace = uint64_t{1} << 56;
// Frame tables without a place of their own are taken to lie on the next page behind the code.
constexpr uint64_t kPage = 4096;

bool is_code(const ElfSection& section) {
  constexpr uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
  return (section.flags & kCode) == kCode && section.start.value != 0 && section.size != 0 &&
         section.start.value < kHighestPlace && section.size < kHighestPlace - section.start.value;
}

std::vector<GdbJitObject::CodeRange> code_ranges_of(const ElfFile& elf) {
  std::vector<GdbJitObject::CodeRange> ranges;
  for (const ElfSection& section : elf.sections()) {
    if (is_code(section) && ranges.size() < kMaxCodeSections)
      ranges.push_back({RuntimeAddr{section.start.value}, section.size});
  }
  std::ranges::stable_sort(ranges, {}, &GdbJitObject::CodeRange::start);
  // No linker makes sections overlap: the first stands.
  uint64_t end = 0;
  std::erase_if(ranges, [&](const GdbJitObject::CodeRange& range) {
    if (range.start.value < end) return true;
    end = range.start.value + range.size;
    return false;
  });
  return ranges;
}

template <class Struct>
void store(std::vector<std::byte>& image, uint64_t offset, const Struct& record) {
  std::memcpy(image.data() + offset, &record, sizeof record);
}

// PHP gives its .eh_frame no place, and one that is 32-bit relative to code must lie within reach of it.
// Reads the place that the section header gives; `image` is at least as long as the headers that were read.
void place_frame_tables(const ElfFile& elf, const std::vector<GdbJitObject::CodeRange>& code,
                        std::vector<std::byte>& image) {
  if (code.empty()) return;
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  uint64_t place = (code.back().start.value + code.back().size + kPage) & ~(kPage - 1);
  for (size_t i = 0; i < elf.sections().size(); ++i) {
    const ElfSection& section = elf.sections()[i];
    if (section.name != ".eh_frame" || section.start.value != 0) continue;
    uint64_t offset = header.e_shoff + i * header.e_shentsize + offsetof(Elf64_Shdr, sh_addr);
    store(image, offset, place);
    offset += offsetof(Elf64_Shdr, sh_flags) - offsetof(Elf64_Shdr, sh_addr);
    store(image, offset, section.flags | SHF_ALLOC);
    place += (section.size + kPage) & ~(kPage - 1);
  }
}

// Makes the image a linked file of one segment for each code section, and says so in its header.
void add_segments(const ElfFile& elf, std::vector<std::byte>& image) {
  std::vector<Elf64_Phdr> segments;
  for (const ElfSection& section : elf.sections()) {
    if (!is_code(section) || segments.size() == PN_XNUM - 1) continue;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_X;
    segment.p_offset = section.offset.value;
    segment.p_vaddr = section.start.value;
    segment.p_paddr = section.start.value;
    segment.p_filesz = elf.raw(section).size();
    segment.p_memsz = section.size;
    segment.p_align = 1;
    segments.push_back(segment);
  }
  image.resize((image.size() + 7) & ~size_t{7});
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  header.e_type = ET_EXEC;
  header.e_phoff = image.size();
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(segments.size());
  store(image, 0, header);
  for (const Elf64_Phdr& segment : segments) {
    image.resize(image.size() + sizeof segment);
    store(image, image.size() - sizeof segment, segment);
  }
}

Result<ElfFile> parse(std::vector<std::byte> image, const std::string& name) {
  return ElfFile::parse(MappedFile::from_memory(std::move(image)), name);
}

}  // namespace

Result<GdbJitObject> read_gdb_jit_object(std::vector<std::byte> bytes, const std::string& name) {
  ElfFile as_published = JP_TRY(parse(std::move(bytes), name));
  if (as_published.machine() != EM_X86_64) return Error{"'" + name + "' is no ELF file of x86-64"};
  GdbJitObject object;
  object.code_ranges = code_ranges_of(as_published);

  Bytes image = as_published.image();
  std::vector<std::byte> changed(image.begin(), image.end());
  place_frame_tables(as_published, object.code_ranges, changed);
  ElfFile placed = JP_TRY(parse(changed, name));
  ElfRelocator relocator(placed, changed);
  relocator.apply_relocations();
  relocator.move_symbols();
  object.shortfalls = relocator.shortfalls();
  add_segments(placed, changed);

  object.code.channel = JitCode::Channel::kGdbJit;
  object.code.name = name;
  for (const GdbJitObject::CodeRange& range : object.code_ranges) object.code.size += range.size;
  object.code.object = std::make_unique<ElfFile>(JP_TRY(parse(std::move(changed), name)));
  return object;
}

}  // namespace jitprof
