// SPDX-License-Identifier: Apache-2.0

// Compiled objects put to places as a JIT does, against the same objects linked to these places by ld.

#include "unwind/jit/gdb_jit_object.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "unwind/cfi/rule_text.h"
#include "unwind/cfi/unwind_table.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

constexpr uint64_t kText = 0x7f1234560000;
constexpr uint64_t kFrames = 0x7f1234580000;
constexpr uint64_t kData = 0x7f1234590000;

constexpr const char* kProgram = R"(
extern int outside(int);
int counter;
static inline int leaf(int n) { return outside(n) * 3 + counter; }
static inline int small(int n) { return leaf(n) + leaf(n + 1); }
__attribute__((noinline)) int mid(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += small(i); return sum; }
int outer(int n) { int room[100]; for (int i = 0; i < 100; ++i) room[i] = mid(n + i); return room[n] + mid(n); }
)";

using Image = std::vector<std::byte>;

Image image_of(const std::string& bytes) {
  const auto* start = reinterpret_cast<const std::byte*>(bytes.data());
  return {start, start + bytes.size()};
}

template <class Change>
void change_sections(Image& image, Change change) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  ElfFile elf = std::move(ElfFile::parse(MappedFile::from_memory(image), "object").value());
  for (size_t i = 0; i < elf.sections().size(); ++i) {
    std::byte* place = image.data() + header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, place, sizeof section);
    change(std::string(elf.sections()[i].name), section);
    std::memcpy(place, &section, sizeof section);
  }
}

// As LLVM's loader leaves it.
Image put_to_places(const std::string& bytes) {
  Image image = image_of(bytes);
  change_sections(image, [](const std::string& name, Elf64_Shdr& section) {
    if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0) return;
    if (section.sh_flags & SHF_EXECINSTR)
      section.sh_addr = kText;
    else
      section.sh_addr = name == ".eh_frame" ? kFrames : kData;
  });
  return image;
}

GdbJitObject must_read(Image image) {
  Result<GdbJitObject> object = read_gdb_jit_object(std::move(image), "jit-object-0x1-0");
  INFO((object.ok() ? "" : object.error().message));
  REQUIRE(object.ok());
  REQUIRE(object.value().code.object != nullptr);
  return std::move(object.value());
}

std::map<std::string, std::pair<uint64_t, uint64_t>> functions_of(const ElfFile& elf) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> functions;
  for (const ElfSymbol& symbol : elf.code_symbols()) {
    if (symbol.type == STT_FUNC) functions[std::string(symbol.name)] = {symbol.start.value, symbol.size};
  }
  return functions;
}

std::string rule_at(const UnwindTable& table, uint64_t place) {
  const UnwindRule* rule = table.find(ElfAddr{place});
  return rule == nullptr ? "none" : to_text(*rule);
}

// NAME@START-END of every function and inlined call.
std::set<std::string> debugged_functions(const ElfFile& file) {
  std::set<std::string> found;
  auto* bytes = reinterpret_cast<char*>(const_cast<std::byte*>(file.image().data()));
  elf_version(EV_CURRENT);
  Elf* elf = elf_memory(bytes, file.image().size());
  Dwarf* dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  REQUIRE(dwarf != nullptr);
  auto visit = [&](auto& self, Dwarf_Die die) -> void {
    int tag = dwarf_tag(&die);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      Dwarf_Attribute attribute;
      std::string name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
      Dwarf_Addr base = 0, start = 0, end = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
        found.insert(name + "@" + std::to_string(start) + "-" + std::to_string(end));
    }
    Dwarf_Die next;
    if (dwarf_child(&die, &next) != 0) return;
    do self(self, next);
    while (dwarf_siblingof(&next, &next) == 0);
  };
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) visit(visit, die);
  dwarf_end(dwarf);
  elf_end(elf);
  return found;
}

std::string compiled(const TempDir& folder, const std::string& compiler,
                     const std::vector<std::string>& more) {
  std::vector<std::string> flags = {"-c", "-g", "-O2", "-ffreestanding"};
  flags.insert(flags.end(), more.begin(), more.end());
  compile(compiler, flags, {folder.write("program.c", kProgram)}, folder.file("program.o"));
  return read_file(folder.file("program.o"));
}

// By ld, with the sections at the same places.
ElfFile linked(const TempDir& folder) {
  std::string script = folder.write("places.ld",
                                    "SECTIONS { .text 0x7f1234560000 : { *(.text .ltext .text.*) } .eh_frame "
                                    "0x7f1234580000 : { *(.eh_frame) } "
                                    ".data 0x7f1234590000 : { *(.data .bss .lbss COMMON) } }");
  ProgramResult result = run_program({"ld", "-T", script, "--defsym=outside=0x7f1234561000", "-e", "outer",
                                      "--no-relax", folder.file("program.o"), "-o", folder.file("program")});
  INFO(result.err);
  REQUIRE(result.status == 0);
  return std::move(ElfFile::open(folder.file("program")).value());
}

}  // namespace

TEST_CASE("an object at its places says what the same object says when ld puts it there") {
  std::string compiler = GENERATE("gcc", "clang-16");
  std::string model = GENERATE("-mcmodel=small", "-mcmodel=large");
  std::string dwarf = GENERATE("-gdwarf-4", "-gdwarf-5");
  std::string frames = GENERATE("-fasynchronous-unwind-tables", "-fno-asynchronous-unwind-tables");
  INFO(compiler << " " << model << " " << dwarf << " " << frames);
  TempDir folder;
  std::string bytes = compiled(folder, compiler, {model, dwarf, frames, "-fPIC"});
  GdbJitObject object = must_read(put_to_places(bytes));
  ElfFile reference = linked(folder);
  const ElfFile& elf = *object.code.object;
  CHECK(object.code.channel == JitCode::Channel::kGdbJit);
  CHECK(object.shortfalls.empty());
  REQUIRE(object.code_ranges.size() == 1);
  CHECK(object.code_ranges[0].start.value == kText);
  CHECK(object.code.size == object.code_ranges[0].size);
  CHECK(elf.bias_of(RuntimeAddr{kText}, FileOffset{0}) == Bias{0});

  auto functions = functions_of(elf);
  CHECK(functions.size() == 2);
  CHECK(functions == functions_of(reference));
  UnwindTable table = UnwindTable::compile(elf);
  UnwindTable expected = UnwindTable::compile(reference);
  CHECK(table.unreadable() == 0);
  CHECK(table.row_count() > 2);
  CHECK(table.row_count() == expected.row_count());
  for (uint64_t i = 0; i < object.code.size; ++i) {
    if (rule_at(table, kText + i) != rule_at(expected, kText + i)) {
      INFO("+" << i);
      CHECK(rule_at(table, kText + i) == rule_at(expected, kText + i));
    }
  }
  CHECK(debugged_functions(elf).size() > 2);
  CHECK(debugged_functions(elf) == debugged_functions(reference));
  // Code is relocated too, as far as the object knows: calls among its own functions.
  CHECK(elf.bytes_from(ElfAddr{kText}).size() == object.code.size);
}

TEST_CASE("relocations applied before do no harm") {
  TempDir folder;
  Image image = put_to_places(compiled(folder, "gcc", {"-mcmodel=large"}));
  GdbJitObject once = must_read(image);
  // The relocated bytes with the object's own headers and symbols.
  Image again = image;
  change_sections(again, [&](const std::string&, Elf64_Shdr& section) {
    if (section.sh_type == SHT_PROGBITS)
      std::memcpy(again.data() + section.sh_offset, once.code.object->image().data() + section.sh_offset,
                  section.sh_size);
  });
  REQUIRE(again != image);
  Bytes first = once.code.object->image();
  GdbJitObject twice = must_read(again);
  CHECK(std::ranges::equal(first, twice.code.object->image()));
}

TEST_CASE("an object that calls itself linked, with absolute places or offsets in sections") {
  TempDir folder;
  Image image = put_to_places(compiled(folder, "clang-16", {"-mcmodel=large"}));
  auto expected = functions_of(*must_read(image).code.object);
  Image relabelled = image;
  relabelled[offsetof(Elf64_Ehdr, e_type)] = std::byte{ET_DYN};
  GdbJitObject object = must_read(relabelled);
  CHECK(functions_of(*object.code.object) == expected);
  CHECK(debugged_functions(*object.code.object) == debugged_functions(*must_read(image).code.object));
  // What has been rewritten once is linked.
  Bytes done = object.code.object->image();
  GdbJitObject again = must_read({done.begin(), done.end()});
  CHECK(functions_of(*again.code.object) == expected);
  CHECK(debugged_functions(*again.code.object) == debugged_functions(*object.code.object));
}

TEST_CASE("code without bytes and frame tables without a place") {
  TempDir folder;
  Image image = put_to_places(compiled(folder, "gcc", {}));
  UnwindTable expected = UnwindTable::compile(*must_read(image).code.object);
  change_sections(image, [](const std::string& name, Elf64_Shdr& section) {
    if (section.sh_flags & SHF_EXECINSTR && section.sh_size > 0) section.sh_type = SHT_NOBITS;
    if (name == ".eh_frame") section.sh_addr = 0;
  });
  GdbJitObject object = must_read(image);
  REQUIRE(object.code_ranges.size() == 1);
  CHECK(object.shortfalls.empty());
  UnwindTable table = UnwindTable::compile(*object.code.object);
  CHECK(table.row_count() == expected.row_count());
  CHECK(rule_at(table, kText + 20) == rule_at(expected, kText + 20));
  CHECK(functions_of(*object.code.object).at("mid").first >= kText);
}

TEST_CASE("frame tables relative to code that is only a place, as PHP writes them") {
  TempDir folder;
  std::string source = folder.write("php.s", R"(
    .text
    .globl f
    .type f, @function
f:  push %rbp
    ret
    .size f, . - f
    .section .eh_frame, "a", @progbits
cie: .long 1f - 0f
0:  .long 0
    .byte 1
    .asciz "zR"
    .uleb128 1
    .sleb128 -8
    .byte 16
    .uleb128 1
    .byte 0x23              # DW_EH_PE_textrel | DW_EH_PE_udata4
    .byte 0x0c, 7, 8        # CFA is rsp + 8
    .byte 0x90, 1           # the return address at CFA - 8
    .balign 8
1:  .long 3f - 2f
2:  .long 2b - cie
    .long 0, 2
    .uleb128 0
    .byte 0x41, 0x0e, 16    # one byte on: CFA is rsp + 16
    .balign 8
3:  .long 0
)");
  compile("gcc", {"-c"}, {source}, folder.file("php.o"));
  Image image = put_to_places(read_file(folder.file("php.o")));
  change_sections(image, [](const std::string& name, Elf64_Shdr& section) {
    if (name == ".text") section.sh_type = SHT_NOBITS;
    if (name == ".eh_frame") section.sh_addr = 0;
  });
  GdbJitObject object = must_read(image);
  UnwindTable table = UnwindTable::compile(*object.code.object);
  CHECK(table.unreadable() == 0);
  CHECK(rule_at(table, kText) != "none");
  CHECK(rule_at(table, kText + 1) != "none");
  CHECK(rule_at(table, kText) != rule_at(table, kText + 1));
  CHECK(rule_at(table, kText + 2) == "none");
}

TEST_CASE("an object of data alone, and what is none") {
  TempDir folder;
  compile("gcc", {"-c"}, {folder.write("data.c", "int data = 1;")}, folder.file("data.o"));
  CHECK(must_read(put_to_places(read_file(folder.file("data.o")))).code_ranges.empty());
  CHECK(!read_gdb_jit_object(image_of("not an ELF file"), "x").ok());
  CHECK(!read_gdb_jit_object({}, "x").ok());
}

TEST_CASE("a damaged object gives what is left of it or an error") {
  TempDir folder;
  Image sound = put_to_places(compiled(folder, "gcc", {"-mcmodel=large"}));
  std::mt19937 random(7);
  auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  size_t readable = 0;
  for (int round = 0; round < 3000; ++round) {
    Image image = sound;
    // Headers of sections stand at the end, and are what everything hangs on.
    for (size_t i = below(8) + 1; i > 0; --i) {
      size_t at = below(2) == 0 ? below(image.size())
                                : image.size() - 1 - below(std::min<size_t>(image.size(), 2000));
      image[at] = static_cast<std::byte>(below(3) == 0 ? 0xff : below(256));
    }
    if (below(4) == 0) image.resize(below(image.size()));
    Result<GdbJitObject> object = read_gdb_jit_object(std::move(image), "damaged");
    if (!object.ok()) continue;
    ++readable;
    uint64_t end = 0;
    for (const GdbJitObject::CodeRange& range : object.value().code_ranges) {
      CHECK(range.size > 0);
      CHECK(range.start.value >= end);
      end = range.start.value + range.size;
    }
    UnwindTable::compile(*object.value().code.object);
    object.value().code.object->code_symbols();
  }
  CHECK(readable > 100);
}
