// SPDX-License-Identifier: Apache-2.0
#include "symbolize/jit_name.h"
#include "symbolize/jit_symbols.h"
#include "tests/catch.h"

namespace jitprof {
namespace {

bool reads_as(const char* published, const char* function, const char* file, uint32_t line,
              const char* tier) {
  JitName name = read_jit_name(published);
  INFO(published << " is '" << name.function << "' '" << name.file << "' " << name.line << " '" << name.tier
                 << "'");
  CHECK(name.function == function);
  CHECK(name.file == file);
  CHECK(name.line == line);
  CHECK(name.tier == tier);
  return true;
}

// Names of a chain, innermost first, with their lines.
std::string chain_of(const JitCode& code, uint64_t offset) {
  Names names;
  std::string text;
  for (const SourceFrame& line : symbolize_jit_code(code, {offset}, names).lines) {
    text += std::string(names.name(line.function)) + "@" +
            (line.file.is_none() ? "" : std::string(names.text(line.file))) + ":" +
            std::to_string(line.line) + " ";
  }
  return text;
}

}  // namespace

TEST_CASE("names of V8 say function, place and tier") {
  CHECK(reads_as("JS:*mid node/chain.js:16:13", "mid", "node/chain.js", 16, "optimized"));
  CHECK(reads_as("JS:~hot /a b/c.js:1:2", "hot", "/a b/c.js", 1, "interpreted"));
  CHECK(reads_as("JS:^get size file:///x.js:7:1", "get size", "/x.js", 7, "baseline"));
  CHECK(reads_as("JS:^get x.js:7:1", "get", "x.js", 7, "baseline"));
  CHECK(reads_as("JS:o*loop x.js:1:1", "loop", "x.js", 1, "optimized"));
  CHECK(reads_as("JS:+'late x.js:1:1", "late", "x.js", 1, "optimized"));
  CHECK(reads_as("JS:* x.js:3:4", "(anonymous)", "x.js", 3, "optimized"));
  CHECK(reads_as("Script:~ x.js:1:1", "(top level)", "x.js", 1, "interpreted"));
  CHECK(reads_as("LazyCompile:*leaf4 /root/chain.js:10", "leaf4", "/root/chain.js", 10, "optimized"));
  CHECK(reads_as("LazyCompile:~ node:internal/timers:1", "(anonymous)", "node:internal/timers", 1,
                 "interpreted"));
  CHECK(reads_as("JS:~nowhere", "nowhere", "", 0, "interpreted"));
  CHECK(reads_as("JS:leaf-0-turbofan", "leaf", "", 0, "optimized"));
  CHECK(reads_as("JS:hot-12-liftoff", "hot", "", 0, "baseline"));
  CHECK(reads_as("Builtin:ArrayMap", "Builtins_ArrayMap", "", 0, ""));
}

TEST_CASE("names of other compilers") {
  CHECK(reads_as("py::mid:/srv/chain.py", "mid", "/srv/chain.py", 0, ""));
  CHECK(reads_as("py::<module>:<frozen x>", "<module>", "<frozen x>", 0, ""));
  CHECK(reads_as("_ZN8__main__3midB2v1Ei", "__main__::mid", "", 0, ""));
  CHECK(reads_as("cfunc._ZN8__main__3midB2v1Ei", "cfunc.__main__::mid", "", 0, ""));
  CHECK(reads_as("void pkg.Class.method(int, int)", "void pkg.Class.method(int, int)", "", 0, ""));
  CHECK(reads_as("", "<unnamed>", "", 0, ""));
}

TEST_CASE("code made at run time stands at the line of its last row") {
  JitCode code{.name = "JS:^small node/chain.js:14:18", .size = 100, .files = {"other.js", ""}};
  CHECK(chain_of(code, 5) == "small@node/chain.js:0 ");
  code.lines = {{.offset = 10, .file = 0, .line = 20}, {.offset = 30, .file = 1, .line = 15}};
  CHECK(chain_of(code, 9) == "small@node/chain.js:0 ");
  CHECK(chain_of(code, 29) == "small@other.js:20 ");
  // A file whose name is lost is taken for the function's own.
  CHECK(chain_of(code, 99) == "small@node/chain.js:15 ");
}

TEST_CASE("inlined methods stand above the one that they were compiled into, each where it is called") {
  std::vector<InlineTable::Entry> entries = {{10, 0}, {-2, 4}, {20, 4}, {-3 - 12, 0}, {-1, 4}, {12, 20}};
  auto table = InlineTable::make(entries, 40, "outer.src", {{"small", "library.src"}});
  REQUIRE(table.has_value());
  JitCode code{.name = "outer", .size = 40, .inlines = std::move(*table)};
  CHECK(chain_of(code, 2) == "outer@outer.src:10 ");
  CHECK(chain_of(code, 8) == "small@library.src:20 outer@outer.src:12 ");
  CHECK(chain_of(code, 25) == "outer@outer.src:12 ");
}

}  // namespace jitprof
