// SPDX-License-Identifier: Apache-2.0
// What report says about its own stacks, and the gate on it.
#include <algorithm>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string record_threads(const TempDir& folder, const std::string& stack_size) {
  std::string program = folder.file("threads");
  compile("g++", {"-std=c++20", "-O2", "-g", "-fomit-frame-pointer", "-pthread"}, {"threads.cc"}, program);
  std::string recording = folder.file("recording");
  jitprof_output({"record", "--stack-size", stack_size, "-o", recording, program, "2"});
  return recording;
}

}  // namespace

TEST_CASE("stacks cut by a small --stack-size: the reason, the fix, and a gate that fails") {
  TempDir folder;
  std::string recording = record_threads(folder, "4096");
  ProgramResult quality = jitprof({"report", "--quality", "--min-complete", "99", recording});
  INFO(quality.out << quality.err);
  CHECK(quality.status == 1);
  CHECK(contains(quality.out, "truncated"));
  CHECK(contains(quality.out, "record with a larger --stack-size than 4096, up to 65528"));
  CHECK(contains(quality.out, "threads "));
  CHECK(contains(quality.out, "  cfi\n"));
  CHECK(contains(quality.err, "fewer than --min-complete 99"));
  CHECK(std::count(quality.err.begin(), quality.err.end(), '\n') == 1);

  // The gate comes after the output, whatever its format.
  ProgramResult folded_result = jitprof({"report", "-f", "folded", "--min-complete", "99.5%", recording});
  CHECK(folded_result.status == 1);
  CHECK(total(parse_folded(folded_result.out)) == recorded_samples(recording));
  CHECK(jitprof({"report", "--min-complete", "0", recording}).status == 0);
}

TEST_CASE("whole stacks pass the gate") {
  TempDir folder;
  std::string recording = record_threads(folder, "65528");
  ProgramResult quality = jitprof({"report", "--quality", "--min-complete", "99", recording});
  INFO(quality.out << quality.err);
  CHECK(quality.status == 0);
  CHECK(quality.err.empty());
  CHECK(contains(quality.out, "complete: "));

  ProgramResult nobody = jitprof({"report", "--min-complete", "99", "--comm", "nobody", recording});
  CHECK(nobody.status == 2);
  CHECK(contains(nobody.err, "there are no samples to judge by"));
}

TEST_CASE("chains that the kernel walked are told apart") {
  TempDir folder;
  std::string recording = folder.file("recording");
  std::string spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
  jitprof_output({"record", "--call-graph", "fp", "-o", recording, "sh", "-c", spin});
  std::string quality = jitprof_output({"report", "--quality", recording});
  CHECK(contains(quality, "recorded_chain"));
  CHECK(contains(quality, "record with --call-graph stack"));
  CHECK(contains(quality, "  recorded chain\n"));
}

TEST_CASE("what the gate and the table refuse") {
  for (const char* share : {"101", "-1", "most", "", "99x", "nan"}) {
    INFO(share);
    CHECK(jitprof({"report", "--min-complete", share, "/no/such/file"}).status == 2);
  }
  ProgramResult both = jitprof({"report", "--quality", "-f", "folded", "/no/such/file"});
  CHECK(both.status == 2);
  CHECK(contains(both.err, "leave out -f"));
}

}  // namespace jitprof::tests
