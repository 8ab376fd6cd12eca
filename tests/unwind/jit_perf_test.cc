// SPDX-License-Identifier: Apache-2.0
// perf reads what jit.h writes, and is not stopped by the records that are jitprof's.
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

std::vector<std::string> blocks_of(const std::string& text) {
  std::vector<std::string> blocks;
  size_t start = 0;
  for (size_t end; (end = text.find("\n\n", start)) != std::string::npos; start = end + 2) {
    blocks.push_back(text.substr(start, end - start));
  }
  return blocks;
}

// The samples of the toy as perf shows them after inject.
std::vector<std::string> samples(const std::vector<std::string>& toy, const std::string& call_graph,
                                 const TempDir& folder) {
  std::string recorded = folder.file("perf.data"), injected = folder.file("injected.data");
  std::vector<std::string> record = {"perf",     "record", "-q",     "-k",          "mono",
                                     "-F",       "999",    "-e",     "cpu-clock:u", "--call-graph",
                                     call_graph, "-o",     recorded, "--",          JP_TOY_JIT};
  record.insert(record.end(), toy.begin(), toy.end());
  // perf keeps copies of what it saw in ~/.debug.
  const std::vector<std::string> environment = {"JITDUMPDIR=" + folder.path(), "HOME=" + folder.path()};
  REQUIRE(run_program(record, folder.path(), 60, environment).status == 0);
  ProgramResult inject =
      run_program({"perf", "inject", "--jit", "-i", recorded, "-o", injected}, "", 60, environment);
  INFO(inject.err);
  REQUIRE(inject.status == 0);
  ProgramResult script =
      run_program({"perf", "script", "-i", injected, "-F", "ip,sym", "--no-inline"}, "", 120, environment);
  REQUIRE(script.status == 0);
  return blocks_of(script.out);
}

bool has(const std::string& block, const std::string& name) {
  return (block + "\n").find(" " + name + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("perf inject runs through on all that jit.h writes and names the code") {
  TempDir folder;
  unsigned named = 0;
  for (const std::string& block : samples({"header", "0.3"}, "fp", folder)) named += has(block, "leaf");
  CHECK(named > 0);
}

TEST_CASE("perf inject runs through where code is moved, replaced and unloaded") {
  TempDir folder;
  unsigned named = 0;
  for (const std::string& block : samples({"header", "0.3", "churn", "200000"}, "fp", folder)) {
    named += block.find(" version_") != std::string::npos;
  }
  CHECK(named > 0);
}

TEST_CASE("perf unwinds by the CFI that is published with jit.h") {
  TempDir folder;
  unsigned whole = 0, broken = 0;
  for (const std::string& block : samples({"jitdump-cfi", "0.3"}, "dwarf,4096", folder)) {
    if (!has(block, "leaf")) continue;
    bool is_whole =
        has(block, "middle") && has(block, "outer") && has(block, "run_chain") && has(block, "main");
    ++(is_whole ? whole : broken);
    if (!is_whole) UNSCOPED_INFO(block);
  }
  CHECK(whole > 0);
  CHECK(broken == 0);
}

}  // namespace jitprof::tests
