// SPDX-License-Identifier: Apache-2.0
// Real compilers at run time, recorded as a user does it: node, lli, python, and a toy JIT that knows its own
// truth.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "tests/catch.h"
#include "tests/end_to_end/background_program.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

using Frames = std::vector<std::string>;

const std::string kPrograms = JP_SOURCE_ROOT "/tests/programs/jit/";

bool is_complete(const FoldedStack& stack) { return !stack.frames[0].starts_with('['); }

// The samples that are of interest, and the part of them that are right.
struct Share {
  uint64_t all = 0;
  uint64_t right = 0;
  std::string wrong;

  double percent() const { return 100.0 * static_cast<double>(right) / static_cast<double>(all); }
};

Share share_of(const std::vector<FoldedStack>& stacks,
               const std::function<bool(const Frames&)>& is_of_interest,
               const std::function<bool(const Frames&)>& is_right) {
  Share share;
  for (const FoldedStack& stack : stacks) {
    if (!is_of_interest(stack.frames)) continue;
    share.all += stack.value;
    if (is_right(stack.frames)) {
      share.right += stack.value;
      continue;
    }
    for (const std::string& frame : stack.frames) share.wrong += frame + ";";
    share.wrong += " " + std::to_string(stack.value) + "\n";
  }
  return share;
}

double complete_percent(const std::vector<FoldedStack>& stacks) {
  uint64_t complete = 0;
  for (const FoldedStack& stack : stacks) complete += is_complete(stack) ? stack.value : 0;
  return 100.0 * static_cast<double>(complete) / static_cast<double>(total(stacks));
}

bool has(const Frames& frames, const std::string& name) {
  return std::find(frames.begin(), frames.end(), name) != frames.end();
}

// What is left of the frames when only those of a set are kept.
std::string only(const Frames& frames, const std::set<std::string>& names) {
  std::string kept;
  for (const std::string& frame : frames) {
    if (names.count(frame) != 0) kept += (kept.empty() ? "" : ";") + frame;
  }
  return kept;
}

// Without a number at the end: "leaf3" is a leaf.
std::string kind_of(const std::string& frame) {
  return frame.substr(0, frame.find_last_not_of("0123456789") + 1);
}

// Records in a folder of its own, where the program may leave files.
std::string record_in(const TempDir& folder, std::vector<std::string> command) {
  std::string recording = folder.file("recording");
  command.insert(command.begin(), {"record", "-o", recording});
  ProgramResult result = jitprof(command, folder.path());
  INFO(result.err);
  REQUIRE(result.status == 0);
  return recording;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// The command that a recorder has launched; before, it launches the same program to ask it for its options.
pid_t child_running(pid_t recorder, const std::string& argument) {
  std::string pid = std::to_string(recorder);
  for (int tries = 0; tries < 1000; ++tries) {
    for (const std::string& child : split(read_file("/proc/" + pid + "/task/" + pid + "/children"), ' ')) {
      bool is_it = !child.empty() && read_file("/proc/" + child + "/cmdline").starts_with("node") &&
                   read_file("/proc/" + child + "/cmdline").find(argument) != std::string::npos;
      if (is_it) return std::atoi(child.c_str());
    }
    usleep(10'000);
  }
  FAIL("the recorder launched nothing");
  return 0;
}

}  // namespace

TEST_CASE("calls of short JavaScript functions, each with its name and its caller") {
  TempDir folder;
  WARN("node " << run_program({"node", "--version"}).out);
  auto stacks = folded(record_in(folder, {"node", kPrograms + "chain.js", "3"}));
  CHECK(total(stacks) > 1500);
  CHECK(complete_percent(stacks) >= 99.7);
  auto is_in_leaf = [](const Frames& frames) {
    return std::any_of(frames.begin(), frames.end(),
                       [](const auto& frame) { return kind_of(frame) == "leaf"; });
  };
  auto is_whole_chain = [](const Frames& frames) {
    std::string kinds;
    for (const std::string& frame : frames) {
      std::string kind = kind_of(frame);
      if (kind == "outer" || kind == "mid" || kind == "small" || kind == "leaf") kinds += kind + ";";
    }
    return kinds == "outer;mid;small;leaf;";
  };
  Share chains = share_of(stacks, is_in_leaf, is_whole_chain);
  INFO(chains.wrong);
  CHECK(chains.all > 700);
  CHECK(chains.percent() >= 99);
  // What node wrote because it was asked to is gone.
  CHECK(files_in(folder.path()) == std::vector<std::string>{"recording"});
}

TEST_CASE("JavaScript that allocates, throws and is called back from native code") {
  TempDir folder;
  auto stacks = folded(record_in(folder, {"node", kPrograms + "mixed.js", "3"}));
  CHECK(complete_percent(stacks) >= 99.7);
  // All of the program runs in main, which comes from a promise's job. What main inlines has no frame.
  auto is_of_program = [](const Frames& frames) { return has(frames, "compare") || has(frames, "replacer"); };
  Share shares = share_of(stacks, is_of_program, [](const Frames& frames) {
    std::string own = only(frames, {"main", "round", "replace", "compare", "replacer"});
    return own == "main;compare" || own == "main;round;compare" || own == "main;replacer" ||
           own == "main;round;replacer" || own == "main;round;replace;replacer" ||
           own == "main;replace;replacer";
  });
  INFO(shares.wrong);
  CHECK(shares.all > 100);
  CHECK(shares.percent() >= 99);
}

TEST_CASE("node is left alone with --jit off, and the user's own files stay") {
  TempDir folder;
  std::string recording = folder.file("recording");
  ProgramResult off = jitprof(
      {"record", "--jit", "off", "-o", recording, "node", "-p", "process.env.NODE_OPTIONS"}, folder.path());
  CHECK(off.status == 0);
  CHECK(off.out == "undefined\n");
  CHECK(files_in(folder.path()) == std::vector<std::string>{"recording"});

  ProgramResult asked = jitprof({"record", "-o", recording, "node", "--perf-prof", "-e", "0"}, folder.path());
  CHECK(asked.status == 0);
  CHECK(asked.err.find("NODE_OPTIONS=") != std::string::npos);
  CHECK(asked.err.find("NODE_OPTIONS=--perf-prof") == std::string::npos);
  auto files = files_in(folder.path());
  auto is_dump = [](const std::string& name) { return name.starts_with("jit-") && name.ends_with(".dump"); };
  CHECK(std::count_if(files.begin(), files.end(), is_dump) == 1);
}

TEST_CASE("functions that LLVM compiles at run time show what was inlined into them") {
  TempDir folder;
  std::string bitcode = folder.file("chain.bc");
  REQUIRE(run_program({"clang-16", "-O2", "-g", "-emit-llvm", "-c", kPrograms + "chain.c", "-o", bitcode})
              .status == 0);
  std::string kind = GENERATE("mcjit", "orc", "orc-lazy");
  INFO(kind);
  auto stacks = folded(record_in(folder, {"lli-16", "--jit-kind=" + kind, bitcode, "2"}));
  // ORC's stubs for functions that are compiled when they are called first have neither names nor CFI: 0.6 %.
  CHECK(complete_percent(stacks) >= (kind == "orc-lazy" ? 98.5 : 99));
  Share chains = share_of(
      stacks, [](const Frames& frames) { return has(frames, "leaf"); },
      [](const Frames& frames) {
        return only(frames, {"outer", "mid", "hot", "small_", "leaf"}) == "outer;mid;hot;small_;leaf";
      });
  INFO(chains.wrong);
  CHECK(chains.all > 1000);
  CHECK(chains.percent() >= 98);
}

TEST_CASE("a JIT of one's own is known by every channel") {
  std::string channel = GENERATE("header", "jitdump-cfi", "gdb", "map");
  INFO(channel);
  TempDir folder;
  setenv("JITDUMPDIR", folder.path().c_str(), 1);
  auto stacks = folded(record_in(folder, {JP_TOY_JIT, channel, "2"}));
  unsetenv("JITDUMPDIR");
  CHECK(complete_percent(stacks) == 100);
  bool has_inlines = channel == "header";
  const std::string kChain =
      has_inlines ? "run_chain;outer;forward;middle;forward;leaf" : "run_chain;outer;middle;leaf";
  Share chains = share_of(
      stacks, [](const Frames& frames) { return has(frames, "leaf") || has(frames, "callback"); },
      [&](const Frames& frames) {
        return only(frames, {"run_chain", "outer", "forward", "middle", "leaf"}) == kChain;
      });
  INFO(chains.wrong);
  CHECK(chains.all > 1000);
  CHECK(chains.right == chains.all);
  if (channel == "map") {
    for (const std::string& name : files_in("/tmp")) {
      if (name.starts_with("perf-") && name.ends_with(".map")) {
        std::string pid = name.substr(5, name.size() - 9);
        if (kill(std::atoi(pid.c_str()), 0) != 0) std::filesystem::remove("/tmp/" + name);
      }
    }
  }
}

TEST_CASE("code that takes another's place has its own name") {
  TempDir folder;
  setenv("JITDUMPDIR", folder.path().c_str(), 1);
  auto stacks = folded(record_in(folder, {JP_TOY_JIT, "header", "2", "churn"}));
  unsetenv("JITDUMPDIR");
  auto version_of = [](const Frames& frames, const std::string& prefix) -> std::string {
    for (const std::string& frame : frames) {
      if (frame.starts_with(prefix)) return frame.substr(prefix.size());
    }
    return "";
  };
  Share names = share_of(
      stacks, [&](const Frames& frames) { return version_of(frames, "enter_") != ""; },
      [&](const Frames& frames) {
        std::string wanted = version_of(frames, "enter_"), name = version_of(frames, "version_");
        return name == "" || name == wanted;
      });
  INFO(names.wrong);
  CHECK(names.all > 500);
  CHECK(names.right == names.all);
}

TEST_CASE("of a node that is killed, all functions that it told of keep their names") {
  TempDir folder;
  std::string recording = folder.file("recording");
  BackgroundProgram recorder({JP_JITPROF, "record", "-o", recording, "node", kPrograms + "chain.js", "30"});
  pid_t node = child_running(recorder.pid(), "chain.js");
  sleep(2);
  kill(node, SIGKILL);
  recorder.end(0);
  auto stacks = folded(recording);
  Share named = share_of(
      stacks, [](const Frames& frames) { return has(frames, "outer"); },
      [](const Frames& frames) {
        return std::none_of(frames.begin(), frames.end(),
                            [](const auto& frame) { return frame.starts_with("anon+0x"); });
      });
  INFO(named.wrong);
  CHECK(named.all > 300);
  CHECK(named.percent() >= 99);
}

TEST_CASE("python's own frames are complete") {
  TempDir folder;
  auto stacks = folded(record_in(folder, {"python3", kPrograms + "chain.py", "2"}));
  CHECK(total(stacks) > 500);
  CHECK(complete_percent(stacks) >= 99);
}

}  // namespace jitprof::tests
