// SPDX-License-Identifier: Apache-2.0
// Programs that spend nearly all their CPU time in marker functions, each in the share of it that the source
// says, so that a sample under another name is a wrong one.
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <map>

#include "tests/catch.h"
#include "tests/end_to_end/background_program.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

const std::vector<std::string> kFlags = {"-std=c++20", "-O2", "-g", "-pthread"};

struct MarkerCounts {
  std::map<std::string, uint64_t> named;  // by the last marker in the stack
  uint64_t in_markers = 0;
  uint64_t all = 0;  // user samples
  std::string others;
};

MarkerCounts count_markers(const std::string& recording) {
  MarkerCounts counts;
  for (const FoldedStack& stack : folded(recording, {"--annotate"})) {
    std::vector<std::string> frames = stack.frames;
    while (!frames.empty() && frames.back().ends_with("_[k]")) frames.pop_back();
    if (frames.empty()) continue;
    counts.all += stack.value;
    if (frames.back().starts_with("marker_")) {
      counts.named[frames.back()] += stack.value;
      counts.in_markers += stack.value;
    } else {
      for (const std::string& frame : frames) counts.others += frame + ";";
      counts.others += " " + std::to_string(stack.value) + "\n";
    }
  }
  return counts;
}

// Every marker has its share of the samples, and nothing else has more than the program's start-up takes. The
// shares are even on a quiet machine; a busy one takes timer ticks away (12 % from one of four was seen), so
// what is held here is that no marker lost its samples to another.
void check_markers(const std::string& recording, const std::vector<std::string>& markers) {
  MarkerCounts counts = count_markers(recording);
  INFO(counts.others);
  CHECK(counts.in_markers > 1000);
  CHECK(static_cast<double>(counts.in_markers) >= 0.99 * static_cast<double>(counts.all));
  CHECK(counts.named.size() == markers.size());
  for (const std::string& marker : markers) {
    INFO(marker);
    double share = static_cast<double>(counts.named[marker]) / static_cast<double>(counts.in_markers);
    CHECK(std::abs(share * static_cast<double>(markers.size()) - 1) <= 0.5);
  }
}

std::string build(const TempDir& folder, const std::string& name) {
  std::string output = folder.file(name);
  compile("g++", kFlags, {name + ".cc"}, output);
  return output;
}

}  // namespace

TEST_CASE("forked children keep the names of what they inherited") {
  TempDir folder;
  std::string recording = folder.file("recording");
  jitprof_output({"record", "-o", recording, build(folder, "fork_marker"), "2"});
  check_markers(recording, {"marker_before_fork", "marker_parent", "marker_child", "marker_grandchild"});
}

TEST_CASE("exec replaces what was mapped") {
  TempDir folder;
  std::string recording = folder.file("recording");
  jitprof_output({"record", "-o", recording, build(folder, "exec_marker"), "2"});
  check_markers(recording, {"marker_before_exec", "marker_after_exec"});
}

TEST_CASE("libraries loaded one after the other at one place keep their own names") {
  TempDir folder;
  std::vector<std::string> command = {"record", "-o", folder.file("recording"),
                                      build(folder, "dlopen_marker"), "2"};
  for (std::string marker : {"marker_plugin_one", "marker_plugin_two"}) {
    std::vector<std::string> flags = kFlags;
    flags.insert(flags.end(), {"-shared", "-fPIC", "-DMARKER=" + marker});
    compile("g++", flags, {"dlopen_plugin.cc"}, folder.file(marker + ".so"));
    command.push_back(folder.file(marker + ".so"));
  }
  jitprof_output(command);
  check_markers(folder.file("recording"), {"marker_plugin_one", "marker_plugin_two"});
}

TEST_CASE("a binary that removes itself is in the recording") {
  TempDir folder;
  std::string program = build(folder, "unlinked_marker");
  jitprof_output({"record", "-o", folder.file("recording"), program, "2"});
  CHECK(access(program.c_str(), F_OK) != 0);
  check_markers(folder.file("recording"), {"marker_unlinked"});
}

TEST_CASE("attaching finds the threads and mappings that are already there") {
  TempDir folder;
  BackgroundProgram program({build(folder, "attach_marker"), "20"});
  usleep(200'000);
  jitprof_output({"record", "-o", folder.file("recording"), "-d", "2", "-p", std::to_string(program.pid())});
  check_markers(folder.file("recording"), {"marker_attach_main", "marker_attach_thread"});
}

TEST_CASE("the whole machine is recorded without jitprof itself") {
  TempDir folder;
  BackgroundProgram program({build(folder, "attach_marker"), "20"});
  usleep(200'000);
  // The shell becomes the recorder, so its pid is the recorder's.
  std::string command =
      std::string("echo $$; exec ") + JP_JITPROF + " record -d 1 -a -o " + folder.file("recording");
  ProgramResult recorder = run_program({"sh", "-c", command});
  REQUIRE(recorder.status == 0);
  std::string pid = std::to_string(program.pid());
  std::vector<FoldedStack> stacks = folded(folder.file("recording"), {"--pid", pid});
  uint64_t in_markers = 0;
  for (const FoldedStack& stack : stacks) {
    for (const std::string& frame : stack.frames) {
      if (frame == "marker_attach_main" || frame == "marker_attach_thread") in_markers += stack.value;
    }
  }
  CHECK(in_markers > 500);
  CHECK(static_cast<double>(in_markers) >= 0.99 * static_cast<double>(total(stacks)));
  std::string own_pid = split(recorder.out, '\n').front();
  CHECK(total(folded(folder.file("recording"), {"--pid", own_pid})) == 0);
}

}  // namespace jitprof::tests
