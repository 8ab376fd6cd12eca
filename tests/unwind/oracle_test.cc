// SPDX-License-Identifier: Apache-2.0
// Real recordings, unwound by us and by libdwfl: every difference is one whose cause is checked.
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/oracle_comparison.h"
#include "tests/unwind/play_samples.h"

namespace jitprof {
namespace {

using tests::Agreement;
using tests::OracleComparison;
using tests::TempDir;

constexpr uint64_t kEnoughSamples = 500;

std::string record(const TempDir& folder, std::vector<std::string> options,
                   const std::vector<std::string>& command) {
  std::string recording = folder.file("recording");
  std::vector<std::string> words = {JP_JITPROF, "record", "-e", "cpu-clock", "-o", recording};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  tests::ProgramResult result = tests::run_program(words);
  INFO(result.err);
  REQUIRE(result.status == 0);
  return recording;
}

// Both walks of every sample; fails the test for a difference that has no known cause.
class Compared {
 public:
  explicit Compared(const std::string& file) {
    auto recording = Recording::open(file);
    REQUIRE(recording.ok());
    auto add = [this](const Sample& sample, const Process& process) { comparison_.add(sample, process); };
    REQUIRE(tests::play_samples(recording.value(), modules_, add).ok());
    std::string text;
    for (const std::string& difference : comparison_.unexplained()) text += difference + "\n";
    INFO(text);
    CHECK(comparison_.count(Agreement::kUnexplained) == 0);
    CHECK(comparison_.samples() > kEnoughSamples);
  }
  double share(Agreement agreement) const {
    return static_cast<double>(comparison_.count(agreement)) / static_cast<double>(comparison_.samples());
  }
  uint64_t count(Agreement agreement) const { return comparison_.count(agreement); }

 private:
  ModuleTable modules_{""};
  OracleComparison comparison_{modules_};
};

std::string program_file(const std::string& name) { return JP_SOURCE_ROOT "/tests/programs/" + name; }

}  // namespace

TEST_CASE("C++: our frames are libdwfl's, whole stacks and cut ones") {
  TempDir folder;
  std::string program = folder.file("threads");
  tests::compile("g++", {"-std=c++20", "-O2", "-fomit-frame-pointer", "-pthread"}, {"threads.cc"}, program);
  for (const char* stack_bytes : {"32768", "4096"}) {
    INFO(stack_bytes);
    Compared compared(record(folder, {"--stack-size", stack_bytes}, {program, "1.5"}));
    CHECK(compared.share(Agreement::kEqual) > 0.95);
  }
}

TEST_CASE("python: our frames are libdwfl's") {
  TempDir folder;
  Compared compared(record(folder, {}, {"python3", program_file("native_mix.py"), "1.5"}));
  CHECK(compared.share(Agreement::kEqual) > 0.9);
}

TEST_CASE("node: its native frames are libdwfl's, and one file at two places is no obstacle") {
  TempDir folder;
  Compared compared(record(folder, {}, {"node", program_file("native_mix.js"), "3"}));
  CHECK(compared.count(Agreement::kEqual) > 100);
}

}  // namespace jitprof
