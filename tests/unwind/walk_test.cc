// SPDX-License-Identifier: Apache-2.0
// Walks of real stacks: a child samples itself, libgcc's unwinder says what is right.
#include "unwind/walk.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/own_stack.h"
#include "tests/unwind/unwinding.h"

namespace jitprof {
namespace {

using tests::OwnStack;
using tests::TempDir;
using tests::WalkedStack;

// Empty when `whole` has `part` in it, else both, for the test's message.
std::string missing_in(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos ? "" : part + " is not in " + whole;
}

std::string build(const TempDir& folder, const std::string& compiler, std::vector<std::string> flags) {
  flags.insert(flags.begin(), "-O2");
  std::string program = folder.file("own_stack");
  tests::compile(compiler, flags, {"own_stack/capture.c", "own_stack/main.c"}, program);
  return program;
}

// The leaf differs: libgcc starts at its own call inside capture().
void check_against_libgcc(const OwnStack& own, const WalkedStack& walked) {
  REQUIRE(!own.libgcc_pcs.empty());
  REQUIRE(walked.pcs.size() == own.libgcc_pcs.size());
  CHECK(std::equal(walked.pcs.begin() + 1, walked.pcs.end(), own.libgcc_pcs.begin() + 1));
  CHECK(walked.function_of(0) == "capture");
}

std::vector<std::string> all_of(std::initializer_list<const char*> texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

TEST_CASE("stacks of every kind reach their root as libgcc sees them") {
  TempDir folder;
  std::string compiler = GENERATE(as<std::string>(), "gcc", "clang-16");
  auto flags =
      GENERATE(all_of({}), all_of({"-static"}), all_of({"-static-pie"}), all_of({"-fno-pie", "-no-pie"}));
  // clang is not told by its own driver where Debian's static-pie start files are.
  if (compiler != "gcc" && !flags.empty()) return;
  std::string program = build(folder, compiler, flags);
  for (const char* scenario :
       {"plain", "recursion", "qsort", "realigned", "noreturn", "signal", "context", "thread"}) {
    INFO(compiler << " " << (flags.empty() ? "" : flags[0]) << " " << scenario);
    OwnStack own(program, scenario);
    WalkedStack walked(own);
    // glibc's __start_context, which a function of makecontext returns to, marks no root: its CFI takes what
    // lies on the stack there for a return address.
    bool is_marked = std::string_view(scenario) != "context";
    CHECK(walked.stack.stop == (is_marked ? StopReason::kReachedRoot : StopReason::kUnmapped));
    bool has_symbols = !flags.empty() && flags[0].starts_with("-static");
    if (!is_marked && has_symbols)
      CHECK(walked.function_of(walked.stack.frames.size() - 1) == "__start_context");
    check_against_libgcc(own, walked);
  }
}

TEST_CASE("callers are looked up inside their call, interrupted frames at their exact pc") {
  TempDir folder;
  std::string program = build(folder, "gcc", {});
  CHECK(missing_in(WalkedStack(OwnStack(program, "plain")).functions(), "capture;leaf;middle;outer;main") ==
        "");
  CHECK(missing_in(WalkedStack(OwnStack(program, "qsort")).functions(), "capture;leaf;compare;") == "");
  // The return address of ends_in_call is the first byte behind it.
  CHECK(missing_in(WalkedStack(OwnStack(program, "noreturn")).functions(),
                   "capture;leaf;never_returns;ends_in_call;main") == "");
  CHECK(missing_in(WalkedStack(OwnStack(program, "realigned")).functions(), "capture;leaf;realigned;main") ==
        "");
  std::string thread = WalkedStack(OwnStack(program, "thread")).functions();
  CHECK(missing_in(thread, "capture;leaf;middle;outer;in_thread") == "");
}

TEST_CASE("an alternate signal stack is left for the interrupted one when that was copied") {
  TempDir folder;
  OwnStack own(build(folder, "gcc", {}), "alternate");
  REQUIRE(own.sample.stack_count == 2);
  WalkedStack both(own);
  CHECK(both.stack.stop == StopReason::kReachedRoot);
  check_against_libgcc(own, both);
  // capture, the handler, the trampoline, then the function whose first instruction faulted.
  REQUIRE(both.stack.frames.size() > 5);
  CHECK(both.function_of(1) == "on_alternate_stack");
  CHECK(both.function_of(3) == "faults_at_entry");
  CHECK(both.function_of(4) == "faults");
  CHECK(both.function_of(5) == "main");

  own.sample.stack_count = 1;
  WalkedStack alone(own);
  CHECK(alone.stack.stop == StopReason::kOtherStack);
  REQUIRE(alone.stack.frames.size() == 4);
  CHECK(alone.function_of(3) == "faults_at_entry");
}

TEST_CASE("code that only .debug_frame describes is walked") {
  TempDir folder;
  auto compressed = GENERATE(false, true);
  std::vector<std::string> flags = {"-g", "-fno-asynchronous-unwind-tables", "-fno-exceptions",
                                    "-DWITHOUT_LIBGCC"};
  if (compressed) flags.push_back("-gz=zlib");
  WalkedStack walked(OwnStack(build(folder, "gcc", flags), "plain"));
  CHECK(walked.stack.stop == StopReason::kReachedRoot);
  CHECK(missing_in(walked.functions(), "capture;leaf;middle;outer;main") == "");
}

TEST_CASE("code without any CFI is walked by what it does") {
  TempDir folder;
  std::vector<std::string> flags = {"-fno-asynchronous-unwind-tables", "-fno-exceptions", "-DWITHOUT_LIBGCC"};
  WalkedStack walked(OwnStack(build(folder, "gcc", flags), "plain"));
  CHECK(walked.stack.stop == StopReason::kReachedRoot);
  CHECK(missing_in(walked.functions(), "capture;leaf;middle;outer;main") == "");
}

TEST_CASE("a stack copy cut by its size is truncated, one that ended early is not") {
  TempDir folder;
  std::string program = build(folder, "gcc", {});
  OwnStack own(program, "recursion", "4096");
  WalkedStack cut(own);
  CHECK(cut.stack.stop == StopReason::kTruncated);
  CHECK(cut.stack.frames.size() > 10);
  CHECK(std::equal(cut.pcs.begin() + 1, cut.pcs.end(), own.libgcc_pcs.begin() + 1));
  // The last frame's return address lies behind what was copied.
  const StackSegment& stack = own.sample.stack[0];
  CHECK(cut.cfas.back() > stack.start.plus(stack.bytes.size()));

  // The same copy when more was asked for: no larger size would have helped.
  own.sample.stack[0].asked = 65528;
  CHECK(WalkedStack(own).stack.stop == StopReason::kUnreadable);
}

TEST_CASE("a recorded chain keeps its pcs and reaches the root only where CFI marks one") {
  TempDir folder;
  OwnStack own(build(folder, "gcc", {}), "plain");
  std::vector<RuntimeAddr> chain = own.libgcc_pcs;
  own.sample.registers = {};
  own.sample.stack_count = 0;
  own.sample.user_chain = chain;
  WalkedStack whole(own);
  CHECK(whole.stack.stop == StopReason::kReachedRoot);
  CHECK(whole.pcs == chain);
  CHECK(whole.stack.frames[0].origin == FrameOrigin::kTop);
  CHECK(whole.stack.frames[1].origin == FrameOrigin::kRecordedChain);
  CHECK(missing_in(whole.functions(), "leaf;middle;outer;main") == "");

  own.sample.user_chain = std::span(chain).first(3);
  CHECK(WalkedStack(own).stack.stop == StopReason::kRecordedChain);

  // Without a chain: where the event hit.
  own.sample.user_chain = {};
  own.sample.ip = chain[1];
  WalkedStack alone(own);
  CHECK(alone.stack.stop == StopReason::kRecordedChain);
  CHECK(alone.pcs == std::vector{chain[1]});
  CHECK(alone.function_of(0) == "leaf");
}

TEST_CASE("registers without a stack give the first frame") {
  TempDir folder;
  OwnStack own(build(folder, "gcc", {}), "plain");
  own.sample.stack_count = 0;
  WalkedStack walked(own);
  CHECK(walked.stack.stop == StopReason::kUnreadable);
  CHECK(walked.functions() == "capture");
}

TEST_CASE("kernel frames come first; a kernel thread ends at its root") {
  Sample sample;
  sample.pid = sample.tid = 7;
  sample.in_kernel = true;
  sample.ip = {0xffffffff81000010};
  std::vector<RuntimeAddr> chain = {sample.ip, {0xffffffff81000100}, {0xffffffffc0001000}};
  sample.kernel_chain = chain;

  ModuleTable modules("");
  ProcessTable processes(modules);
  processes.apply(MapEvent{.pid = 0xffffffff,
                           .start = {0xffffffffc0000000},
                           .size = 0x2000,
                           .is_executable = true,
                           .in_kernel = true,
                           .path = "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz"});
  tests::Unwinding unwinding(modules);
  UnwoundStack stack;
  unwind(sample, processes, processes.process(7), unwinding.places, kDefaultMaxDepth, stack);
  CHECK(stack.stop == StopReason::kReachedRoot);
  REQUIRE(stack.frames.size() == 3);
  CHECK(stack.frames[0].position == ElfAddr{0xffffffff81000010});
  CHECK(stack.frames[1].position == ElfAddr{0xffffffff810000ff});
  CHECK(stack.frames[0].in_kernel);
  CHECK(modules.module(stack.frames[1].module).path == "[kernel]");
  CHECK(modules.module(stack.frames[1].module).kind == Module::Kind::kKernel);
  CHECK(modules.module(stack.frames[2].module).path == "[ext4]");
  CHECK(modules.module(stack.frames[2].module).kind == Module::Kind::kKernelModule);
}

TEST_CASE("a pc in no mapping is listed and ends the walk") {
  Sample sample;
  sample.registers.set(Register::rip, 0x1234);
  sample.registers.set(Register::rsp, 0x7000);
  sample.stack_count = 1;
  ModuleTable modules("");
  ProcessTable processes(modules);
  tests::Unwinding unwinding(modules);
  UnwoundStack stack;
  unwind(sample, processes, processes.process(1), unwinding.places, kDefaultMaxDepth, stack);
  CHECK(stack.stop == StopReason::kUnmapped);
  REQUIRE(stack.frames.size() == 1);
  CHECK(stack.frames[0].module.is_none());
  CHECK(stack.frames[0].position == ElfAddr{0x1234});
}

}  // namespace jitprof
