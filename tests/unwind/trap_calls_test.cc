// SPDX-License-Identifier: Apache-2.0
// Stacks through what has no CFI, has it twice, or lies on another stack.
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/stopped_program.h"

namespace jitprof {
namespace {

using tests::KeptWalk;
using tests::StoppedProgram;
using tests::TempDir;

std::string build_callbacks(const TempDir& folder) {
  std::string program = folder.file("callbacks");
  tests::compile("gcc", {"-O2"}, {"traps/callbacks.c", "traps/no_cfi.S"}, program);
  return program;
}

std::string sniffer_of(const tests::KeptFrame& kept) { return Sniffers().entry({kept.frame.sniffer}).name; }

}  // namespace

TEST_CASE("assembly without CFI whose rbp holds a number is left by what it did, marked") {
  TempDir folder;
  StoppedProgram stopped({build_callbacks(folder), "without_cfi"});
  KeptWalk walk = stopped.walk();
  REQUIRE(walk.frames.size() >= 5);
  CHECK(walk.stop == StopReason::kReachedRoot);
  CHECK(stopped.names_of(walk).starts_with("stops;called_back;without_cfi;main;"));
  CHECK(sniffer_of(walk.frames[2]) == "cfi");
  CHECK(sniffer_of(walk.frames[3]) == "prologue");
  CHECK(sniffer_of(walk.frames[4]) == "cfi");
}

TEST_CASE("assembly without CFI and without a symbol is left by its frame pointer, marked") {
  TempDir folder;
  StoppedProgram stopped({build_callbacks(folder), "frame_pointer"});
  KeptWalk walk = stopped.walk();
  REQUIRE(walk.frames.size() >= 5);
  CHECK(walk.stop == StopReason::kReachedRoot);
  CHECK(stopped.names_of(walk).starts_with("stops;called_back;main;"));
  CHECK(sniffer_of(walk.frames[2]) == "cfi");
  CHECK(sniffer_of(walk.frames[3]) == "frame-pointer");
  CHECK(sniffer_of(walk.frames[4]) == "cfi");
}

TEST_CASE("a thread's first function whose CFI lacks the mark of an end is no root and no loop") {
  TempDir folder;
  StoppedProgram stopped({build_callbacks(folder), "without_end"});
  KeptWalk walk = stopped.walk();
  CHECK(walk.stop == StopReason::kUnmapped);
  CHECK(stopped.names_of(walk) == "stops;called_back;thread_without_end");
}

TEST_CASE("two mappings of one file in one stack") {
  TempDir folder;
  StoppedProgram stopped({build_callbacks(folder), "second_mapping"});
  KeptWalk walk = stopped.walk();
  CHECK(walk.stop == StopReason::kReachedRoot);
  CHECK(
      stopped.names_of(walk).starts_with("stops;called_back;mapped_twice;first_mapping;mapped_twice;main;"));
  REQUIRE(walk.frames.size() > 5);
  // One module, one place in it, two places in the process.
  CHECK(walk.frames[2].frame.module == walk.frames[4].frame.module);
  CHECK(walk.frames[2].frame.position == walk.frames[4].frame.position);
  CHECK(walk.frames[2].pc != walk.frames[4].pc);
}

TEST_CASE("a coroutine's stack ends where its first function was entered") {
  TempDir folder;
  std::string program = folder.file("coroutines");
  tests::compile("gcc", {"-O2"}, {"traps/coroutines.c"}, program);
  StoppedProgram stopped({program});
  unsigned inside = 0, outside = 0;
  do {
    KeptWalk walk = stopped.walk();
    std::string names = stopped.names_of(walk);
    INFO(names << " " << name_of(walk.stop) << " at " << stopped.place_of(walk.frames[0].frame));
    if (names.find("main;") != std::string::npos) {
      CHECK(walk.stop == StopReason::kReachedRoot);
      ++outside;
    } else if (names.ends_with("body")) {
      // The CFI of glibc's __start_context, which body returns to, takes what lies on the stack there for a
      // return address.
      CHECK(walk.stop == StopReason::kUnmapped);
      ++inside;
    } else {
      // In the midst of a switch the rows of swapcontext, setcontext and __start_context are wrong: they read
      // a return address from what is not there.
      CHECK(walk.stop != StopReason::kReachedRoot);
    }
  } while (stopped.program().step() == tests::TracedProgram::Step::kInstruction);
  CHECK(inside > 20);
  CHECK(outside > 20);
}

TEST_CASE("a fiber of Boost.Context ends at its assembly, which has no CFI") {
  TempDir folder;
  std::string program = folder.file("boost_context");
  tests::compile("g++", {"-std=c++20", "-O2", "-Wl,--no-as-needed", "-lboost_context"},
                 {"traps/boost_context.cc"}, program);
  StoppedProgram stopped({program});
  KeptWalk walk = stopped.walk();
  CHECK(walk.stop == StopReason::kNoUnwindInfo);
  CHECK(stopped.names_of(walk).starts_with("stops;in_fiber;"));
  CHECK(stopped.place_of(walk.frames.back().frame).starts_with("libboost_context"));
}

}  // namespace jitprof
