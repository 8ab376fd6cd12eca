// SPDX-License-Identifier: Apache-2.0
// Stacks through what has no CFI, has it twice, or lies on another stack.
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/stepped_scenario.h"
#include "tests/unwind/stopped_program.h"

namespace jitprof {
namespace {

using tests::KeptWalk;
using tests::SteppedScenario;
using tests::StoppedProgram;
using tests::TempDir;

std::string build_callbacks(const TempDir& folder, const std::string& frames = "-fomit-frame-pointer") {
  std::string program = folder.file("callbacks");
  tests::compile("gcc", {"-O2", frames}, {"traps/callbacks.c", "traps/no_cfi.S"}, program);
  return program;
}

}  // namespace

TEST_CASE("hand-written assembly without CFI is left by what its code does, marked") {
  TempDir folder;
  StoppedProgram stopped({build_callbacks(folder), "without_cfi"});
  KeptWalk walk = stopped.walk();
  CHECK(walk.stop == StopReason::kReachedRoot);
  CHECK(stopped.names_of(walk).starts_with("stops;called_back;without_cfi;main;"));
  REQUIRE(walk.frames.size() >= 5);
  CHECK(walk.frames[3].frame.sniffer == Sniffers::kPrologue.index);
  CHECK(walk.frames[4].frame.sniffer == Sniffers::kCfi.index);
}

TEST_CASE("the walk is right at every instruction of assembly without CFI") {
  TempDir folder;
  // Where the callers have frame pointers, the frame pointer leads past the assembly's own caller.
  std::string frames = GENERATE(as<std::string>(), "-fomit-frame-pointer", "-fno-omit-frame-pointer");
  SteppedScenario stepped({build_callbacks(folder, frames), "assembly"});
  CHECK(stepped.first_walk().stop == StopReason::kReachedRoot);
  CHECK(stepped.faults() == "");
  CHECK(stepped.without_cfi() == "");
  for (const char* function :
       {"pushes", "frameless", "subtracts", "leaves_early", "jumps_on", "moves_pointer", "callbacks"}) {
    INFO(function);
    CHECK(stepped.stepped_in(function));
  }
}

TEST_CASE("assembly with a frame pointer is left by what its code does as well") {
  TempDir folder;
  StoppedProgram stopped({build_callbacks(folder), "frame_pointer"});
  KeptWalk walk = stopped.walk();
  REQUIRE(walk.frames.size() >= 5);
  CHECK(walk.stop == StopReason::kReachedRoot);
  CHECK(stopped.names_of(walk).starts_with("stops;called_back;without_cfi_by_frame_pointer;main;"));
  CHECK(walk.frames[2].frame.sniffer == Sniffers::kCfi.index);
  CHECK(walk.frames[3].frame.sniffer == Sniffers::kPrologue.index);
  CHECK(walk.frames[4].frame.sniffer == Sniffers::kCfi.index);
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
