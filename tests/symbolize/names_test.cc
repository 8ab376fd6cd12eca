// SPDX-License-Identifier: Apache-2.0
// Full name texts: the same for one function inlined and called, from DWARF and from the symbol table.
#include <algorithm>
#include <set>
#include <string>

#include "symbolize/demangler.h"
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/symbolize/code_under_test.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

const std::string kFixture = JP_SOURCE_ROOT "/tests/symbolize/fixtures/names.cc";

struct AllNames {
  std::set<std::string> inlined;
  std::set<std::string> called;
};

AllNames names_in(CodeUnderTest& code, const std::string& program) {
  AllNames all;
  for (uint64_t position : instructions_of(program)) {
    std::vector<NamedLine> lines = code.lines_at(position);
    all.called.insert(lines.back().name);
    lines.pop_back();
    for (const NamedLine& line : lines) all.inlined.insert(line.name);
  }
  return all;
}

}  // namespace

TEST_CASE("a function reads the same inlined, called and from the symbol table") {
  std::string compiler = GENERATE("g++", "clang++-16");
  INFO(compiler);
  TempDir folder;
  std::string program = folder.file("program");
  compile(compiler, {"-std=c++20", "-O2", "-g"}, {kFixture}, program);
  CodeUnderTest code(program);
  size_t compared = 0;
  for (const ElfSymbol& symbol : code.elf().code_symbols()) {
    if (symbol.size == 0 || !symbol.name.starts_with("_Z")) continue;
    std::string expected = demangle(without_clone_suffix(symbol.name)).name;
    CHECK(code.lines_at(symbol.start.value).back().name == expected);
    ++compared;
  }
  CHECK(compared > 5);

  AllNames names = names_in(code, program);
  for (const char* name :
       {"static_plain",
        "static_c",
        "extern_c",
        "space::static_in_namespace",
        "space::extern_in_namespace",
        "space::version1::static_in_inline_namespace",
        "space::(anonymous namespace)::hidden",
        "space::(anonymous namespace)::Hidden::member",
        "space::(anonymous namespace)::Hidden::operator bool",
        "space::(anonymous namespace)::Hidden::operator<",
        "space::(anonymous namespace)::Hidden::operator<< <int>",
        "space::(anonymous namespace)::Hidden::operator<< <char**>",
        "space::(anonymous namespace)::Hidden::Nested::deep",
        "space::values<3ul, (char)97, true, (Color)1, (space::Scoped)0, -1l>",
        "space::types<char const*, char* const&, std::vector<int const*, std::allocator<int const*> >, "
        "void (*)(char const*), int [3], int (&) [4], unsigned long long, signed char, unsigned short, "
        "decltype(nullptr), int space::Holder<int>::*, space::Holder<long> const&, long volatile, int (int), "
        "space::(anonymous namespace)::Hidden::Nested>",
        "space::types<>",
        "space::of_template<std::vector, int>",
        "space::external_template<int>",
        "space::Holder<unsigned short>::Holder",
        "space::Holder<char>::in_template",
        "tagged[abi:v2]",
        "with_closures::Local::inlined_method"}) {
    INFO(name);
    CHECK(names.inlined.count(name) == 1);
  }
  for (const char* name : {"main", "with_closures", "sorts", "with_closures::Local::method"}) {
    INFO(name);
    CHECK(names.called.count(name) == 1);
  }
  // What is called and inlined is one function.
  std::string closure =
      compiler == "g++" ? "with_closures::{lambda(int)#2}::operator()" : "with_closures::$_1::operator()";
  CHECK(names.called.count(closure) == 1);
}

TEST_CASE("inlined functions at -g1 have their bare names, called ones their symbol's") {
  TempDir folder;
  std::string program = folder.file("program");
  compile("g++", {"-std=c++20", "-O2", "-g1"}, {kFixture}, program);
  CodeUnderTest code(program);
  AllNames names = names_in(code, program);
  CHECK(names.inlined.count("static_in_namespace") == 1);
  CHECK(names.called.count("with_closures::{lambda(int)#2}::operator()") == 1);
}

TEST_CASE("a function keeps where it is declared, its signature and its linkage name") {
  TempDir folder;
  std::string program = folder.file("program");
  compile("g++", {"-std=c++20", "-O2", "-g"}, {kFixture}, program);
  CodeUnderTest code(program);
  for (const ElfSymbol& symbol : code.elf().code_symbols()) {
    if (symbol.name != "_Z13with_closuresiPKc") continue;
    SymbolizedFrame frame = code.frame_at(symbol.start.value + 1);
    CHECK(frame.offset == 1);
    const Function& function = code.names().function(frame.lines.back().function);
    CHECK(code.names().text(function.signature) == "with_closures(int, char const*)");
    CHECK(code.names().text(function.linkage_name) == symbol.name);
    CHECK(code.names().text(function.file) == kFixture);
    CHECK(function.line == 82);
    return;
  }
  FAIL("no such symbol");
}

TEST_CASE("without debug information names come from symbols, and from nothing at last") {
  TempDir folder;
  std::string program = folder.file("program");
  compile("g++", {"-std=c++20", "-O2"}, {kFixture}, program);
  {
    CodeUnderTest code(program);
    AllNames names = names_in(code, program);
    CHECK(names.called.count("with_closures::{lambda(int)#2}::operator()") == 1);
    CHECK(names.called.count("main") == 1);
    CHECK(names.inlined.empty());
  }
  REQUIRE(run_program({"strip", program}).status == 0);
  CodeUnderTest code(program);
  uint64_t position = instructions_of(program)[20];
  std::vector<NamedLine> lines = code.lines_at(position);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].name.starts_with("program+0x"));
}

}  // namespace jitprof::tests
