// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"
#include "base/elf_file.h"
#include "base/interner.h"
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

namespace jitprof {
namespace {

using tests::TempDir;

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string compile_small(const TempDir& folder, const std::vector<std::string>& flags) {
  std::string source =
      folder.write("small.c", "int twice(int x) { return 2 * x; }\nint main(void) { return twice(0); }\n");
  std::string output = folder.file("small");
  tests::compile("gcc", flags, {source}, output);
  return output;
}

}  // namespace

TEST_CASE("a byte reader fails once and for good") {
  std::string text("ab\0cd", 5);
  ByteReader reader(as_bytes(text));
  CHECK(reader.c_string() == "ab");
  CHECK(reader.u16() == 0x6463);
  CHECK(reader.at_end());
  CHECK(reader.ok());
  CHECK(reader.u8() == 0);
  CHECK_FALSE(reader.ok());
  reader.seek(0);
  CHECK(reader.u8() == 0);
}

TEST_CASE("an unterminated string is a failure") {
  ByteReader reader(as_bytes("abc"));
  CHECK(reader.c_string().empty());
  CHECK_FALSE(reader.ok());
}

TEST_CASE("an interner gives one id to one text") {
  Interner interner;
  StringId a = interner.intern("a");
  CHECK(interner.intern("b") != a);
  CHECK(interner.intern("a") == a);
  CHECK(interner.text(a) == "a");
  CHECK(interner.text(StringId{}).empty());
}

TEST_CASE("an ELF file's segments, sections, symbols and build-id are read") {
  TempDir folder;
  std::string path = compile_small(folder, {"-O0", "-Wl,--build-id=sha1"});
  auto elf = ElfFile::open(path);
  REQUIRE(elf.ok());
  CHECK(elf.value().machine() == EM_X86_64);
  CHECK(elf.value().type() == ET_DYN);
  CHECK(elf.value().build_id().bytes().size() == 20);
  CHECK(elf.value().find_section(".text") != nullptr);
  CHECK(elf.value().find_section(".bss") == nullptr);
  bool found = false;
  for (const ElfSymbol& symbol : elf.value().code_symbols())
    found |= symbol.name == "twice" && symbol.size > 0;
  CHECK(found);
}

TEST_CASE("the bias follows the segment, not the file offset") {
  TempDir folder;
  // As lld and this option of ld lay files out; ld makes it ET_EXEC unless it is a library.
  std::string path = compile_small(folder, {"-O0", "-shared", "-fPIC", "-Wl,-Ttext-segment=0x10000"});
  auto elf = ElfFile::open(path);
  REQUIRE(elf.ok());
  for (const ElfSegment& segment : elf.value().segments()) {
    if (segment.type != PT_LOAD || !(segment.flags & PF_X)) continue;
    CHECK(segment.start.value != segment.offset.value);
    RuntimeAddr start{0x7f0000000000};
    auto bias = elf.value().bias_of(start, segment.offset);
    REQUIRE(bias.has_value());
    CHECK(bias->to_elf(start) == segment.start);
  }
  CHECK_FALSE(elf.value().bias_of(RuntimeAddr{0}, FileOffset{1 << 30}).has_value());
}

TEST_CASE("a fixed executable has no bias") {
  TempDir folder;
  auto elf = ElfFile::open(compile_small(folder, {"-O0", "-no-pie"}));
  REQUIRE(elf.ok());
  CHECK(elf.value().bias_of(RuntimeAddr{0x401000}, FileOffset{0x1000}) == Bias{0});
}

TEST_CASE("compressed sections are inflated to the same bytes") {
  TempDir folder;
  std::string plain = compile_small(folder, {"-g"});
  auto expected = ElfFile::open(plain);
  REQUIRE(expected.ok());
  std::string format = GENERATE("zlib", "zlib-gnu");
  std::string packed = folder.file("packed");
  REQUIRE(tests::run_program({"objcopy", "--compress-debug-sections=" + format, plain, packed}).status == 0);
  auto elf = ElfFile::open(packed);
  REQUIRE(elf.ok());
  unsigned compared = 0;
  for (const ElfSection& section : expected.value().sections()) {
    if (!section.name.starts_with(".debug_")) continue;
    const ElfSection* other = elf.value().find_section(section.name);
    if (other == nullptr) other = elf.value().find_section(".z" + std::string(section.name.substr(1)));
    REQUIRE(other != nullptr);
    auto inflated = elf.value().contents(*other);
    REQUIRE(inflated.ok());
    Bytes bytes = expected.value().raw(section);
    REQUIRE(inflated.value().bytes().size() == bytes.size());
    CHECK(std::memcmp(inflated.value().bytes().data(), bytes.data(), bytes.size()) == 0);
    ++compared;
  }
  CHECK(compared >= 4);
}

TEST_CASE("a cut or scribbled ELF file is read as far as it goes") {
  TempDir folder;
  std::string whole = tests::read_file(compile_small(folder, {"-g"}));
  auto exercise = [](const std::string& image) {
    std::vector<std::byte> bytes(image.size());
    std::copy(image.begin(), image.end(), reinterpret_cast<char*>(bytes.data()));
    auto elf = ElfFile::parse(MappedFile::from_memory(std::move(bytes)), "damaged");
    if (!elf.ok()) return;
    for (const ElfSection& section : elf.value().sections()) (void)elf.value().contents(section);
    (void)elf.value().code_symbols();
    (void)elf.value().build_id();
    (void)elf.value().debug_link();
    (void)elf.value().bias_of(RuntimeAddr{0x1000}, FileOffset{0x1000});
    (void)elf.value().bytes_from(ElfAddr{0x1000});
  };
  for (size_t size = 0; size < whole.size(); size += 61) exercise(whole.substr(0, size));
  for (size_t place = 0; place < 64; ++place) {
    std::string scribbled = whole;
    scribbled[place] = '\xff';
    exercise(scribbled);
  }
  for (size_t place = whole.size() - 2048; place < whole.size(); place += 3) {
    std::string scribbled = whole;
    scribbled[place] = '\xff';
    exercise(scribbled);
  }
  CHECK(ElfFile::open(folder.path()).error().message.find("directory") != std::string::npos);
}

}  // namespace jitprof
