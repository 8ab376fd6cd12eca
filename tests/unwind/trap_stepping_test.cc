// SPDX-License-Identifier: Apache-2.0
// Programs run by single instructions: the walk is right at every one of them.
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/stepped_scenario.h"

namespace jitprof {
namespace {

using tests::SteppedScenario;
using tests::TempDir;

struct Case {
  const char* scenario;
  // What it is about: functions that it goes through, and a library whose functions have no names.
  std::vector<const char*> through;
  bool also_without_libraries = true;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"vfork", {"forks"}},
      {"plt", {"ld-linux-x86-64.so.2", "getpgid"}, false},
      {"realigned", {"realigned", "leaf"}},
      {"qsort", {"compare", "sorts"}},
      {"noreturn", {"never_returns", "leaf"}},
      {"cold", {"splits", "complains"}},
      {"vdso", {"asks_the_time", "__vdso_clock_gettime"}},
      {"signal", {"raises", "on_inner_signal"}},
      {"nested_signal", {"on_outer_signal", "on_inner_signal"}},
      {"alternate", {"faults_at_entry", "on_fault", "on_inner_signal"}},
      {"alternate_above", {"faults_at_entry", "on_fault", "on_inner_signal"}},
  };
  return kCases;
}

}  // namespace

TEST_CASE("the walk is right at every instruction") {
  TempDir folder;
  std::string compiler = GENERATE(as<std::string>(), "gcc", "clang-16");
  std::string layout =
      GENERATE(as<std::string>(), "-pie", "-no-pie", "-static", "-static-pie", "-fuse-ld=lld");
  // clang is not told by its own driver where Debian's static-pie start files are.
  if (compiler == "clang-16" && layout == "-static-pie") return;
  if (compiler == "gcc" && layout == "-fuse-ld=lld") return;
  std::string program = folder.file("scenarios");
  tests::compile(compiler, {"-O2", "-pthread", "-Wl,-z,lazy", layout}, {"traps/scenarios.c"}, program);
  // GNU ld writes no CFI for the PLT of a static program (calls of memcpy and its like), lld for none.
  bool has_plt_cfi = !layout.starts_with("-static") && layout != "-fuse-ld=lld";
  bool has_libraries = !layout.starts_with("-static");
  for (const Case& its : cases()) {
    INFO(compiler << " " << layout << " " << its.scenario);
    SteppedScenario stepped({program, its.scenario});
    CHECK(stepped.first_walk().stop == StopReason::kReachedRoot);
    CHECK(stepped.first_functions().find("main") != std::string::npos);
    CHECK(stepped.faults() == "");
    if (has_plt_cfi) CHECK(stepped.without_cfi() == "");
    for (const char* function : its.through) {
      if (!has_libraries && !its.also_without_libraries) continue;
      INFO(function);
      CHECK(stepped.stepped_in(function));
    }
  }
}

}  // namespace jitprof
