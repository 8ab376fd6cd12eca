// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/end_to_end/known_chains.h"
#include "tests/end_to_end/truth_program.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {

TEST_CASE("folded output shows exactly the known chains") {
  std::string compiler = GENERATE("gcc", "clang");
  TempDir folder;
  std::string program = build_truth(compiler, folder);
  std::string recording = folder.file("truth.data");
  jitprof_output({"record", "-o", recording, program, "6"});
  Share share = share_of_known(KnownChains(compiler), folded(recording, {"--annotate"}));
  INFO(compiler << ": " << share.matching << " of " << share.covered << "\n" << share.first_misses);
  CHECK(share.covered > 4000);
  CHECK(share.percent() >= 99.5);
}

TEST_CASE("perf.data of the truth program: every sample, the same chains") {
  std::string form = GENERATE("plain", "-z", "pipe");
  TempDir folder;
  std::string program = build_truth("gcc", folder);
  std::string recording = folder.file("perf.data");
  std::string options = "-F 999 -e cpu-clock --call-graph dwarf,32768 ";
  std::string command = form == "pipe" ? "perf record " + options + "-o - " + program + " 3 >" + recording
                                       : "perf record " + options + (form == "-z" ? "-z " : "") + "-o " +
                                             recording + " " + program + " 3";
  REQUIRE(run_program({"sh", "-c", command + " 2>/dev/null"}).status == 0);

  // perf script prints one header line per sample, which alone starts without white space.
  ProgramResult script = run_program(
      {"sh", "-c", "perf script --no-inline -F comm,ip -i " + recording + " | grep -c '^[^[:space:]]'"});
  std::vector<FoldedStack> stacks = folded(recording, {"--annotate"});
  CHECK(total(stacks) == std::strtoull(script.out.c_str(), nullptr, 10));
  Share share = share_of_known(KnownChains("gcc"), stacks);
  INFO(form << ": " << share.matching << " of " << share.covered << "\n" << share.first_misses);
  CHECK(share.covered > 2000);
  CHECK(share.percent() >= 99.5);
}

}  // namespace jitprof::tests
