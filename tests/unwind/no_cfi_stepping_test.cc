// SPDX-License-Identifier: Apache-2.0
// Programs without CFI run by single instructions: the walk is right at every one of them.
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/stepped_scenario.h"

namespace jitprof {

using tests::SteppedScenario;
using tests::TempDir;

TEST_CASE("compiled code without CFI is left right at every instruction") {
  TempDir folder;
  std::string compiler = GENERATE(as<std::string>(), "gcc", "clang-16");
  std::string level = GENERATE(as<std::string>(), "-O0", "-O2", "-Os");
  std::string program = folder.file("scenarios");
  tests::compile(compiler, {level, "-pthread", "-fno-asynchronous-unwind-tables", "-fno-exceptions"},
                 {"traps/scenarios.c"}, program);
  // Not gcc's frames that are aligned through a saved pointer, nor the parts of functions that it moves away:
  // of those nothing is known without CFI.
  std::vector<std::string> scenarios = {"qsort",     "noreturn", "signal", "nested_signal",
                                        "alternate", "vfork",    "plt",    "vdso"};
  if (compiler == "clang-16") scenarios.insert(scenarios.end(), {"realigned", "cold"});
  for (const std::string& scenario : scenarios) {
    INFO(compiler << " " << level << " " << scenario);
    SteppedScenario stepped({program, scenario});
    CHECK(stepped.first_walk().stop == StopReason::kReachedRoot);
    CHECK(stepped.faults() == "");
    CHECK(stepped.without_cfi() == "");
  }
}

}  // namespace jitprof
