// SPDX-License-Identifier: Apache-2.0
// Damaged debug information costs names, never a crash or a hang.
#include <random>
#include <string>

#include "symbolize/line_table.h"
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/symbolize/code_under_test.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {

TEST_CASE("programs with damaged debug sections are still symbolized") {
  TempDir folder;
  std::string program = folder.file("program");
  std::string compiler = GENERATE("g++", "clang++-16");
  compile(compiler, {"-std=c++20", "-O2", "-g"}, {JP_SOURCE_ROOT "/tests/symbolize/fixtures/names.cc"},
          program);
  std::string intact = read_file(program);
  std::vector<uint64_t> positions = instructions_of(program);
  std::string section =
      GENERATE(".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".debug_str");
  const ElfSection found = *module_of(program).elf->find_section(section);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::string damaged = intact;
    for (int i = 0; i < 30; ++i)
      damaged[found.offset.value + random() % found.size] = static_cast<char>(random());
    CodeUnderTest code(folder.write("damaged", damaged));
    for (size_t i = 0; i < positions.size(); i += 3) REQUIRE(!code.lines_at(positions[i]).empty());
  }
}

TEST_CASE("line programs of random bytes end") {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::byte> bytes(400);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    uint32_t length = 396;
    std::memcpy(bytes.data(), &length, sizeof length);
    bytes[4] = static_cast<std::byte>(2 + random() % 4);
    bytes[5] = std::byte{0};
    LineTable table({.line = bytes, .line_str = bytes, .str = bytes}, 0, "/build");
    table.find({random()});
    for (uint64_t file = 0; file < 10; ++file) table.file(file);
  }
}

}  // namespace jitprof::tests
