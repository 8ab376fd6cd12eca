// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

// What `jitprof script` shows above each physical pc of the program's own code: the lines from the innermost
// inlined one to the physical one, for every frame of every sample.
std::map<std::string, std::set<std::string>> chains_by_pc(const std::string& recording,
                                                          const std::string& module) {
  std::map<std::string, std::set<std::string>> chains;
  std::string chain;
  for (const std::string& line : split(jitprof_output({"script", recording}), '\n')) {
    std::string text = line.substr(0, line.find_last_not_of(' ') + 1);
    size_t start = text.find_first_not_of(' ');
    if (start == std::string::npos || start == 0) continue;
    std::string pc = text.substr(start, text.find(' ', start) - start);
    chain += text.substr(start) + "\n";
    if (text.ends_with("(inlined)")) continue;
    if (text.ends_with("(" + module + ")")) chains[pc].insert(chain);
    chain.clear();
  }
  return chains;
}

}  // namespace

TEST_CASE("frame-pointer chains show the inline chains that stack recordings show") {
  TempDir folder;
  std::string program = folder.file("inline_fp");
  compile("g++", {"-std=c++20", "-O2", "-g", "-fno-omit-frame-pointer"}, {"inline_fp.cc"}, program);
  std::string stack = folder.file("stack.data");
  jitprof_output({"record", "-o", stack, program, "3"});
  std::string fp = folder.file("fp.data");
  if (GENERATE(false, true)) {
    REQUIRE(run_program({"perf", "record", "-F", "999", "-e", "cpu-clock", "--call-graph", "fp", "-o", fp,
                         program, "3"})
                .status == 0);
  } else {
    jitprof_output({"record", "--call-graph", "fp", "-o", fp, program, "3"});
  }
  auto expected = chains_by_pc(stack, "inline_fp");
  unsigned compared = 0, with_inlines = 0;
  for (const auto& [pc, chains] : chains_by_pc(fp, "inline_fp")) {
    auto found = expected.find(pc);
    if (found == expected.end()) continue;
    ++compared;
    with_inlines += chains.begin()->find("(inlined)") != std::string::npos;
    CHECK(chains == found->second);
    CHECK(chains.size() == 1);
  }
  CHECK(compared > 20);
  CHECK(with_inlines > 5);
}

}  // namespace jitprof::tests
