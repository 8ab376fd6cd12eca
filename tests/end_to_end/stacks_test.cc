// SPDX-License-Identifier: Apache-2.0
// How far stacks reach: to the root when the bytes are there, and an honest end when they are not.
#include <cinttypes>
#include <cstdio>
#include <map>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

std::string build_threads(const TempDir& folder) {
  std::string output = folder.file("threads");
  compile("g++", {"-std=c++20", "-O2", "-g", "-fomit-frame-pointer", "-pthread"}, {"threads.cc"}, output);
  return output;
}

std::map<std::string, uint64_t> by_root(const std::vector<FoldedStack>& stacks) {
  std::map<std::string, uint64_t> counts;
  for (const FoldedStack& stack : stacks) {
    if (!stack.frames.front().ends_with("_[k]")) counts[stack.frames.front()] += stack.value;
  }
  return counts;
}

}  // namespace

TEST_CASE("with enough stack bytes every thread is unwound to its root") {
  TempDir folder;
  std::string recording = folder.file("recording");
  jitprof_output({"record", "--stack-size", "65528", "-o", recording, build_threads(folder), "6"});
  std::map<std::string, uint64_t> roots = by_root(folded(recording, {"--annotate"}));
  uint64_t all = 0, incomplete = 0;
  for (const auto& [root, count] : roots) {
    all += count;
    if (root.starts_with("[")) incomplete += count;
  }
  CHECK(all > 4000);
  CHECK(static_cast<double>(incomplete) <= 0.001 * static_cast<double>(all));
  CHECK(roots["[truncated]"] == 0);
}

TEST_CASE("a stack that was cut says so, and the slot it needed lies beyond the copied bytes") {
  TempDir folder;
  std::string recording = folder.file("recording");
  jitprof_output({"record", "--stack-size", "4096", "-o", recording, build_threads(folder), "3"});
  std::string script = jitprof_output({"script", "--verbose", recording});
  uint64_t truncated = 0, other_known = 0, other_ends = 0, inside = 0;
  uint64_t stack_end = 0, copied = 0, asked = 0, cfa = 0;
  std::string detail, block, others;
  for (const std::string& line : split(script, '\n')) {
    uint64_t start = 0, end = 0;
    const char* kStack = " stack 0x%" SCNx64 "..0x%" SCNx64 ", %" SCNu64 " of %" SCNu64;
    if (std::sscanf(line.c_str(), kStack, &start, &end, &copied, &asked) == 4) stack_end = end;
    if (line.starts_with("          pc=0x")) detail = line;
    block = line.empty() ? "" : block + line + "\n";
    if (size_t place = line.find(" cfa=0x"); place != std::string::npos) {
      cfa = std::strtoull(line.c_str() + place + 7, nullptr, 16);
    }
    if (!line.starts_with("        [") || line.ends_with("[root]")) continue;
    if (line.ends_with("[truncated]")) {
      ++truncated;
      // The return address stands right below the CFA.
      if (cfa <= stack_end) ++inside;
    } else if (line.ends_with("[no unwind info]") && detail.find(" rule: ") == std::string::npos) {
      // glibc leaves the system call of clone3 out of its CFI, because parent and child come out of it; crt
      // files' _init and __do_global_dtors_aux have none.
      ++other_known;
    } else if (line.ends_with("[unreadable]") && copied < asked) {
      // The kernel brings no page in while it samples (seen while the program paints its stack), and copies
      // nothing of a process that is being torn down.
      ++other_known;
    } else {
      ++other_ends;
      others += block;
    }
  }
  INFO(others);
  CHECK(truncated > 100);
  CHECK(other_known * 100 < truncated);
  CHECK(other_ends == 0);
  CHECK(inside == 0);
}

TEST_CASE("every output sums to the number of recorded samples") {
  TempDir folder;
  std::string recording = folder.file("recording");
  jitprof_output({"record", "--stack-size", "4096", "-o", recording, build_threads(folder), "1"});
  uint64_t samples = recorded_samples(recording);
  REQUIRE(samples > 500);
  CHECK(total(folded(recording)) == samples);
  CHECK(total(folded(recording, {"--no-inline"})) == samples);
  CHECK(total(folded(recording, {"--signatures"})) == samples);
  std::string count = std::to_string(samples);
  CHECK(jitprof_output({"report", recording}).find(count) != std::string::npos);
  CHECK(jitprof_output({"report", "-f", "tree", recording}).find(count) != std::string::npos);
  CHECK(jitprof_output({"report", "-f", "flamegraph", recording}).find(count) != std::string::npos);
}

}  // namespace jitprof::tests
