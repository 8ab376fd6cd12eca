// SPDX-License-Identifier: Apache-2.0
// Walks of stacks that no real program has: endless, going down, ending in zero.
#include <numeric>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/unwinding.h"
#include "unwind/walk.h"

namespace jitprof {
namespace {

using tests::TempDir;

constexpr uint64_t kStack = 0x7000000;
constexpr uint64_t kCode = 0x40000000;

// push_frame:  sub $8,%rsp ; nop ×10 ; add $8,%rsp ; ret      CFA = rsp+16 at +4
// fixed_frame: push %rbp ; mov %rsp,%rbp ; nop ×10 ; pop %rbp ; ret    CFA = rbp+16 at +4
constexpr const char* kSource = R"(
  .text
  .globl push_frame, fixed_frame
  .type push_frame, @function
  .type fixed_frame, @function
push_frame:
  .cfi_startproc
  sub $8, %rsp
  .cfi_def_cfa_offset 16
  .fill 10, 1, 0x90
  add $8, %rsp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size push_frame, . - push_frame
fixed_frame:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset 6, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register 6
  .fill 10, 1, 0x90
  pop %rbp
  .cfi_def_cfa 7, 8
  ret
  .cfi_endproc
  .size fixed_frame, . - fixed_frame
  .section .note.GNU-stack
)";

// A library with those two functions, mapped at kCode, and a stack to lay out by hand.
class HandMade {
 public:
  explicit HandMade(size_t words) : words_(words) {
    std::string source = folder_.write("frames.s", kSource);
    tests::compile("gcc", {"-shared", "-nostdlib"}, {source}, folder_.file("frames.so"));
    auto elf = ElfFile::open(folder_.file("frames.so"));
    REQUIRE(elf.ok());
    for (const ElfSegment& segment : elf.value().segments()) {
      if (segment.type != 1 || !(segment.flags & 1)) continue;
      processes_.apply(MapEvent{.pid = 1,
                                .tid = 1,
                                .start = {kCode},
                                .size = 0x1000,
                                .offset = segment.offset,
                                .is_executable = true,
                                .path = folder_.file("frames.so")});
    }
    Bias bias = processes_.process(1).space.find({kCode})->bias;
    for (const ElfSymbol& symbol : elf.value().code_symbols()) {
      (symbol.name == "push_frame" ? push_frame : fixed_frame) = bias.to_runtime(symbol.start).value + 6;
    }
    sample.pid = sample.tid = 1;
    sample.registers.set(Register::rsp, kStack);
    sample.stack[0] = {.start = {kStack}, .bytes = std::as_bytes(std::span(words_)), .asked = words * 8};
    sample.stack_count = 1;
  }

  uint64_t& word(size_t index) { return words_[index]; }
  StopReason walk_it(uint32_t max_depth = kDefaultMaxDepth) {
    unwind(sample, processes_, processes_.process(1), unwinding_.places, max_depth, stack);
    return stack.stop;
  }

  Sample sample;
  UnwoundStack stack;
  uint64_t push_frame = 0, fixed_frame = 0;

 private:
  TempDir folder_;
  std::vector<uint64_t> words_;
  ModuleTable modules_{""};
  ProcessTable processes_{modules_};
  tests::Unwinding unwinding_{modules_};
};

}  // namespace

TEST_CASE("equal pcs are recursion as long as the CFA grows") {
  size_t frames = GENERATE(as<size_t>(), 20'000, 120'000);
  HandMade made(2 * frames);
  for (size_t i = 0; i < frames; ++i) made.word(2 * i + 1) = made.push_frame;
  made.sample.registers.set(Register::rip, made.push_frame);
  CHECK(made.walk_it(1'000'000) == StopReason::kTruncated);
  CHECK(made.stack.frames.size() == frames + 1);
  CHECK(made.stack.elided.count == 0);
}

TEST_CASE("a stack deeper than asked keeps both its ends") {
  constexpr size_t kFrames = 1000;
  HandMade made(2 * kFrames);
  for (size_t i = 0; i < kFrames; ++i) made.word(2 * i + 1) = made.push_frame;
  made.word(2 * kFrames - 1) = 0;
  made.sample.registers.set(Register::rip, made.push_frame);
  CHECK(made.walk_it(kFrames) == StopReason::kUnmapped);
  CHECK(made.stack.elided.count == 0);
  std::vector<Frame> whole = made.stack.frames;
  REQUIRE(whole.size() == kFrames);

  CHECK(made.walk_it(11) == StopReason::kUnmapped);
  CHECK(made.stack.frames.size() == 11);
  CHECK(made.stack.elided.at == 6);
  CHECK(made.stack.elided.count == kFrames - 11);
  CHECK(std::equal(whole.begin(), whole.begin() + 6, made.stack.frames.begin()));
  CHECK(std::equal(whole.end() - 5, whole.end(), made.stack.frames.begin() + 6));
}

TEST_CASE("a CFA that does not grow ends the walk without inventing a caller") {
  HandMade made(16);
  made.sample.registers.set(Register::rip, made.push_frame);
  made.word(1) = made.fixed_frame;
  made.word(3) = made.fixed_frame;
  made.sample.registers.set(Register::rbp, kStack - 64);
  CHECK(made.walk_it() == StopReason::kNoProgress);
  CHECK(made.stack.frames.size() == 2);

  // The same frame again and again.
  made.sample.registers.set(Register::rbp, kStack + 16);
  made.word(2) = kStack + 16;
  CHECK(made.walk_it() == StopReason::kNoProgress);
  CHECK(made.stack.frames.size() == 3);
}

TEST_CASE("a register whose slot was popped is the caller's already") {
  HandMade made(16);
  // On the ret of fixed_frame, called by fixed_frame, whose CFA hangs on rbp, called by push_frame.
  made.sample.registers.set(Register::rip, made.fixed_frame + 9);
  made.sample.registers.set(Register::rbp, kStack + 32);
  made.word(0) = made.fixed_frame;
  made.word(5) = made.push_frame;
  made.word(7) = made.push_frame;
  (void)made.walk_it();
  CHECK(made.stack.frames.size() >= 4);

  // In the midst of the function the slot is what counts, and there is none.
  made.sample.registers.set(Register::rip, made.fixed_frame);
  made.sample.registers.set(Register::rbp, kStack - 64);
  CHECK(made.walk_it() == StopReason::kNoProgress);
}

TEST_CASE("a register that nobody knows is unreadable, not zero") {
  HandMade made(16);
  made.sample.registers.set(Register::rip, made.fixed_frame);
  CHECK(made.walk_it() == StopReason::kUnreadable);
  CHECK(made.stack.frames.size() == 1);
}

TEST_CASE("a frame on a stack that was not copied says so, a place that can be no stack does not") {
  HandMade made(16);
  made.sample.registers.set(Register::rip, made.push_frame);
  made.word(1) = made.fixed_frame;
  made.sample.registers.set(Register::rbp, uint64_t{0x7ffe} << 32);
  CHECK(made.walk_it() == StopReason::kOtherStack);
  CHECK(made.stack.frames.size() == 2);
  for (uint64_t fp : {(uint64_t{0x7ffe} << 32) + 1, uint64_t{1} << 60}) {
    made.sample.registers.set(Register::rbp, fp);
    CHECK(made.walk_it() == StopReason::kUnreadable);
  }
}

TEST_CASE("a return address of zero is no frame and no root") {
  HandMade made(16);
  made.sample.registers.set(Register::rip, made.push_frame);
  made.word(1) = made.push_frame;
  made.word(3) = 0;
  CHECK(made.walk_it() == StopReason::kUnmapped);
  CHECK(made.stack.frames.size() == 2);
}

TEST_CASE("a return address in no mapping is no frame") {
  HandMade made(16);
  made.sample.registers.set(Register::rip, made.push_frame);
  made.word(1) = 0x1234;
  CHECK(made.walk_it() == StopReason::kUnmapped);
  CHECK(made.stack.frames.size() == 1);
}

}  // namespace jitprof
