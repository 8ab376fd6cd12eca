// SPDX-License-Identifier: Apache-2.0
// Depth, file, line and last name component at every instruction against llvm-symbolizer.
//
// Where the two differ, ours stands:
// - Code without debug information (crt1.o): llvm gives the STT_FILE symbol as file, which names an object's
//   source without a folder and is not where the code's line is. Only positions with a line are compared by
//   file.
// - g++ -O2 names parts and clones by the function (main.cold); last_component drops that suffix on both
// sides.
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/run_program.h"
#include "tests/symbolize/code_under_test.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

const std::string kFixture = JP_SOURCE_ROOT "/tests/symbolize/fixtures/names.cc";

std::string text_of(const std::vector<NamedLine>& lines) {
  std::string text;
  for (const NamedLine& line : lines) {
    // Padding between functions has a line, but no function.
    bool is_unknown = line.name == "??" || line.name.find("+0x") != std::string::npos;
    text += "\n  " + (is_unknown ? "??" : last_component(line.name)) + " " + line.file + ":" +
            std::to_string(line.line);
  }
  return text;
}

bool has_source(const std::vector<NamedLine>& lines) { return lines.size() > 1 || lines.front().line != 0; }

void compare(CodeUnderTest& code, const std::string& path_for_llvm, const std::vector<uint64_t>& positions) {
  std::vector<std::vector<NamedLine>> expected = llvm_lines(path_for_llvm, positions);
  size_t with_inlines = 0;
  for (size_t i = 0; i < positions.size(); ++i) {
    std::vector<NamedLine> ours = code.lines_at(positions[i]);
    if (!has_source(ours) && !has_source(expected[i])) continue;
    if (ours.size() > 1) ++with_inlines;
    INFO("at " << std::hex << positions[i]);
    REQUIRE(text_of(ours) == text_of(expected[i]));
  }
  CHECK(with_inlines > 100);
}

void compile_fixture(const std::string& compiler, std::vector<std::string> flags, const std::string& output) {
  flags.insert(flags.end(), {"-std=c++20", "-O2"});
  compile(compiler, flags, {kFixture}, output);
}

// The distinct inline chains of a program's own code, innermost function first, then each function's
// signature where it says more than the name.
std::string full_texts(CodeUnderTest& code, const std::vector<uint64_t>& positions) {
  std::set<std::string> chains, signatures;
  for (uint64_t position : positions) {
    SymbolizedFrame frame = code.frame_at(position);
    if (frame.lines.front().line == 0) continue;
    std::string chain;
    for (const SourceFrame& line : frame.lines) {
      const Function& function = code.names().function(line.function);
      std::string name(code.names().text(function.name)), signature(code.names().text(function.signature));
      chain += (chain.empty() ? "" : " < ") + name;
      if (signature != name) signatures.insert(name + " = " + signature);
    }
    // Padding between functions has a line, but no function.
    if (chain.find("+0x") == std::string::npos) chains.insert(chain);
  }
  std::string text;
  for (const std::string& line : chains) text += line + "\n";
  text += "\n";
  for (const std::string& line : signatures) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("every instruction reads as llvm-symbolizer reads it, for every kind of debug information") {
  auto [compiler, flags] = GENERATE(table<std::string, std::vector<std::string>>({
      {"g++", {"-g"}},
      {"g++", {"-gdwarf-4"}},
      {"g++", {"-g1"}},
      {"g++", {"-g", "-gz"}},
      {"g++", {"-g", "-flto"}},
      {"g++", {"-g", "-static"}},
      {"g++", {"-gdwarf-3", "-no-pie"}},
      {"g++", {"-g", "-O3"}},
      {"clang++-16", {"-g"}},
      {"clang++-16", {"-gdwarf-4"}},
      {"clang++-16", {"-gmlt"}},
      {"clang++-16", {"-g", "-gz"}},
      {"clang++-16", {"-g", "-ffunction-sections", "-Wl,--gc-sections"}},
  }));
  INFO(compiler << " " << flags.front() << " " << flags.back());
  TempDir folder;
  std::string program = folder.file("program");
  compile_fixture(compiler, flags, program);
  std::vector<uint64_t> positions = instructions_of(program);
  // A static program's rest is libc's own code, without debug information.
  CodeUnderTest code(program);
  if (positions.size() > 20'000) {
    std::erase_if(positions, [&](uint64_t position) { return !has_source(code.lines_at(position)); });
  }
  CHECK(positions.size() > 500);
  compare(code, program, positions);
}

TEST_CASE("every instruction of the truth program reads as llvm-symbolizer reads it") {
  std::string compiler = GENERATE("g++", "clang++-16");
  TempDir folder;
  std::string program = folder.file("truth");
  std::string sources = JP_SOURCE_ROOT "/tests/programs/truth/";
  ProgramResult result = run_program(
      {"sh", "-c", compiler + " -std=c++20 -O2 -g -pthread -o \"$0\" \"$1\"*.cc", program, sources});
  INFO(result.err);
  REQUIRE(result.status == 0);
  CodeUnderTest code(program);
  compare(code, program, instructions_of(program));
  CHECK(golden_difference("symbolize/golden/truth." + compiler, full_texts(code, instructions_of(program))) ==
        "");
}

TEST_CASE("a stripped program reads through its debug file as it did before") {
  TempDir folder;
  std::string program = folder.file("program");
  compile_fixture("g++", {"-g", "-Wl,--build-id"}, program);
  REQUIRE(run_program({"mkdir", folder.file("whole")}).status == 0);
  std::string whole = folder.file("whole/program");
  REQUIRE(run_program({"cp", program, whole}).status == 0);
  std::string place = GENERATE("program.debug", ".debug/program.debug", "by build-id");
  std::string debug = folder.file("program.debug");
  REQUIRE(run_program({"objcopy", "--only-keep-debug", "--compress-debug-sections", program, debug}).status ==
          0);
  REQUIRE(run_program({"strip", program}).status == 0);
  if (place == "by build-id") {
    std::string hex = module_of(program).elf->build_id().hex();
    std::string target = folder.file("dbg/.build-id/" + hex.substr(0, 2));
    REQUIRE(run_program({"mkdir", "-p", target}).status == 0);
    REQUIRE(run_program({"mv", debug, target + "/" + hex.substr(2) + ".debug"}).status == 0);
  } else {
    REQUIRE(run_program({"objcopy", "--add-gnu-debuglink=" + debug, program}).status == 0);
    REQUIRE(run_program({"mkdir", folder.file(".debug")}).status == 0);
    if (place != "program.debug") REQUIRE(run_program({"mv", debug, folder.file(place)}).status == 0);
  }
  CodeUnderTest stripped(program, {folder.file("dbg")});
  CodeUnderTest expected(whole);
  for (uint64_t position : instructions_of(whole)) {
    REQUIRE(text_of(stripped.lines_at(position)) == text_of(expected.lines_at(position)));
  }
}

TEST_CASE("debug files of another build are refused and counted") {
  TempDir folder;
  std::string program = folder.file("program");
  compile_fixture("g++", {"-g"}, program);
  std::string debug = folder.file("program.debug");
  REQUIRE(run_program({"objcopy", "--only-keep-debug", program, debug}).status == 0);
  REQUIRE(run_program({"strip", program}).status == 0);
  REQUIRE(run_program({"objcopy", "--add-gnu-debuglink=" + debug, program}).status == 0);
  // Still a readable debug file, but another CRC than the link says.
  REQUIRE(run_program({"objcopy", "--remove-section", ".comment", debug}).status == 0);
  CodeUnderTest code(program);
  CHECK(code.symbols().refused_debug_files() == 1);
  uint64_t position = instructions_of(program)[10];
  CHECK(code.lines_at(position).front().line == 0);
}

TEST_CASE("split DWARF keeps lines from the skeleton and names from the symbol table") {
  TempDir folder;
  std::string program = folder.file("program");
  std::string compiler = GENERATE("g++", "clang++-16");
  // In two steps: when it links too, clang writes the .dwo to the current folder.
  std::string object = folder.file("program.o");
  compile(compiler, {"-std=c++20", "-O2", "-g", "-gsplit-dwarf", "-c"}, {kFixture}, object);
  compile(compiler, {}, {object}, program);
  CodeUnderTest code(program);
  size_t with_line = 0;
  for (uint64_t position : instructions_of(program)) {
    std::vector<NamedLine> lines = code.lines_at(position);
    REQUIRE(!lines.empty());
    if (lines.front().line != 0) ++with_line;
  }
  CHECK(with_line > 300);
}

}  // namespace jitprof::tests
