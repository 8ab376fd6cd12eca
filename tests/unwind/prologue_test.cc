// SPDX-License-Identifier: Apache-2.0
// Programs without CFI, run by single instructions: the walk is right at every one of them.
#include "unwind/sniff/prologue.h"

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/stepped_scenario.h"

namespace jitprof {
namespace {

using tests::SteppedScenario;
using tests::StoppedProgram;
using tests::TempDir;

const std::vector<std::string> kNoCfi = {"-fno-asynchronous-unwind-tables", "-fno-exceptions"};

std::vector<std::string> with_no_cfi(std::vector<std::string> flags) {
  flags.insert(flags.end(), kNoCfi.begin(), kNoCfi.end());
  return flags;
}

}  // namespace

TEST_CASE("assembly without CFI and frame pointers is left right at every instruction") {
  TempDir folder;
  // Called by code with CFI, by code with frame pointers only, by code with neither.
  auto flags = GENERATE(std::vector<std::string>{"-O2"}, with_no_cfi({"-O0"}), with_no_cfi({"-O2"}));
  std::string program = folder.file("frameless");
  tests::compile("gcc", flags, {"traps/frameless.c", "traps/frameless.S"}, program);
  SteppedScenario stepped({program});
  INFO(flags.back() << " " << flags.size());
  CHECK(stepped.first_walk().stop == StopReason::kReachedRoot);
  CHECK(stepped.faults() == "");
  CHECK(stepped.without_cfi() == "");
  for (const char* function : {"leaf_only", "pushes", "two_epilogues", "stores", "aligns",
                               "pops_return_address", "has_constants", "runs_frameless"}) {
    CHECK(stepped.stepped_in(function));
  }
}

TEST_CASE("compiled code without CFI is left right at every instruction") {
  TempDir folder;
  std::string compiler = GENERATE(as<std::string>(), "gcc", "clang-16");
  std::string level = GENERATE(as<std::string>(), "-O0", "-O2", "-Os");
  std::string program = folder.file("scenarios");
  tests::compile(compiler, with_no_cfi({level, "-pthread"}), {"traps/scenarios.c"}, program);
  // Not gcc's frames aligned through a saved pointer, nor parts of functions that gcc moves away: of those
  // nothing is known without CFI.
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
