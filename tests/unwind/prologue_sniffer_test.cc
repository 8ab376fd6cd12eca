// SPDX-License-Identifier: Apache-2.0
// Hand-made stacks of code without CFI whose bytes are known.
#include "unwind/sniff/prologue_sniffer.h"

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/unwinding.h"
#include "tests/unwind/walk_sample.h"

namespace jitprof {
namespace {

using tests::TempDir;

constexpr uint64_t kFunction = 0x40000000;  // code made at run time
constexpr uint64_t kCaller = 0x40001000;    // with a frame pointer
constexpr uint64_t kUnknown = 0x50000000;   // code of which nothing is known
constexpr uint64_t kStack = 0x70000000;
constexpr uint64_t kCallersRbp = kStack + 0x100;

// As numba makes them: six registers saved, a local in the red zone, rbp a number.
const std::vector<uint8_t> kNumbas = {
    0x55,                          //  0 push %rbp
    0x41, 0x57,                    //  1 push %r15
    0x41, 0x56,                    //  3 push %r14
    0x41, 0x55,                    //  5 push %r13
    0x41, 0x54,                    //  7 push %r12
    0x53,                          //  9 push %rbx
    0xbd, 7,    0,    0,    0,     // 10 mov $7,%ebp
    0x48, 0x89, 0x7c, 0x24, 0xf8,  // 15 mov %rdi,-8(%rsp)
    0xff, 0xd7,                    // 20 call *%rdi
    0x5b,                          // 22 pop %rbx
    0x41, 0x5c,                    // 23 pop %r12
    0x41, 0x5d,                    // 25 pop %r13
    0x41, 0x5e,                    // 27 pop %r14
    0x41, 0x5f,                    // 29 pop %r15
    0x5d,                          // 31 pop %rbp
    0xc3,                          // 32 ret
};
// Words pushed before each instruction of it.
const std::vector<std::pair<uint64_t, unsigned>> kPushed = {
    {0, 0},  {1, 1},  {3, 2},  {5, 3},  {7, 4},  {9, 5},  {10, 6}, {15, 6},
    {20, 6}, {22, 6}, {23, 5}, {25, 4}, {27, 3}, {29, 2}, {31, 1}, {32, 0}};
constexpr uint64_t kCallInCaller = 9;  // where it returns to
const std::vector<uint8_t> kCallers = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0, 0, 0, 0, 0x5d, 0xc3};

class JitStack {
 public:
  JitStack() : words_(64) {
    processes_.apply(MapEvent{
        .pid = 1, .tid = 1, .start = {kUnknown}, .size = 0x1000, .is_executable = true, .path = "//anon"});
    load(kFunction, kNumbas);
    load(kCaller, kCallers);
    sample.pid = sample.tid = 1;
    sample.stack[0] = {.start = {kStack}, .bytes = std::as_bytes(std::span(words_)), .asked = 1 << 16};
    sample.stack_count = 1;
    // Of the caller.
    word(kCallersRbp) = 0x1111;
    word(kCallersRbp + 8) = kUnknown + 0x10;
  }

  // Stands at an instruction of the function, called with rsp at `return_slot`.
  void stand_at(uint64_t offset, unsigned pushed) {
    constexpr Register kPushes[] = {Register::rbp, Register::r15, Register::r14,
                                    Register::r13, Register::r12, Register::rbx};
    uint64_t return_slot = kStack + 0xc0;
    word(return_slot) = kCaller + kCallInCaller;
    for (unsigned i = 0; i < 6; ++i) {
      uint64_t value = kPushes[i] == Register::rbp ? kCallersRbp : 0xb0 + i;
      // Popped again, a register's slot may hold anything.
      word(return_slot - 8 * (i + 1)) = i < pushed ? value : 0xdead;
      sample.registers.set(kPushes[i], i < pushed ? 0xbad : value);
    }
    sample.registers.set(Register::rip, kFunction + offset);
    sample.registers.set(Register::rsp, return_slot - 8 * pushed);
  }

  uint64_t& word(uint64_t position) { return words_[(position - kStack) / 8]; }
  tests::KeptWalk walk_it() { return tests::walk_sample(sample, processes_.process(1), unwinding.places); }

  void load(uint64_t start, const std::vector<uint8_t>& code, const char* name = "f") {
    JitCode made{.name = name, .size = code.size()};
    for (uint8_t byte : code) made.bytes.push_back(std::byte{byte});
    codes_.push_back(std::move(made));
    processes_.apply(JitChange{.pid = 1,
                               .code = static_cast<uint32_t>(codes_.size() - 1),
                               .start = {start},
                               .size = code.size()},
                     codes_);
  }

 private:
  std::vector<uint64_t> words_;
  std::deque<JitCode> codes_;
  ModuleTable modules_{""};
  ProcessTable processes_{modules_};

 public:
  tests::Unwinding unwinding{modules_};
  Sample sample;
};

}  // namespace

TEST_CASE("code without CFI or frame pointer is left right at each of its instructions") {
  for (auto [offset, pushed] : kPushed) {
    INFO("at +" << offset);
    JitStack jit;
    jit.stand_at(offset, pushed);
    tests::KeptWalk walk = jit.walk_it();
    REQUIRE(walk.frames.size() == 3);
    CHECK(walk.frames[1].pc == RuntimeAddr{kCaller + kCallInCaller});
    CHECK(walk.frames[1].frame.sniffer == Sniffers::kPrologue.index);
    CHECK(walk.frames[1].registers.find(Register::rbp) == kCallersRbp);
    CHECK(walk.frames[1].registers.find(Register::rbx) == 0xb5);
    CHECK(walk.frames[1].registers.find(Register::r15) == 0xb1);
    CHECK_FALSE(walk.frames[1].registers.knows(Register::rdi));
    CHECK(walk.frames[2].pc == RuntimeAddr{kUnknown + 0x10});
    CHECK(walk.frames[2].registers.find(Register::rbp) == 0x1111);
    CHECK(walk.stop == StopReason::kNoUnwindInfo);
  }
}

TEST_CASE("a caller without CFI is left by how it stood in its call") {
  JitStack jit;
  jit.stand_at(20, 6);
  uint64_t sp = *jit.sample.registers.find(Register::rsp);
  // The call has led to the caller's code, which has made no frame yet.
  jit.word(sp - 8) = kFunction + 22;
  jit.sample.registers.set(Register::rip, kCaller);
  jit.sample.registers.set(Register::rsp, sp - 8);
  tests::KeptWalk walk = jit.walk_it();
  REQUIRE(walk.frames.size() == 4);
  CHECK(walk.frames[1].pc == RuntimeAddr{kFunction + 22});
  CHECK(walk.frames[2].pc == RuntimeAddr{kCaller + kCallInCaller});
  CHECK(walk.frames[2].registers.find(Register::rbp) == kCallersRbp);
}

TEST_CASE("what the code says is not believed where nothing can return to") {
  JitStack jit;
  jit.stand_at(20, 6);
  uint64_t& return_slot = jit.word(kStack + 0xc0);
  return_slot = GENERATE(uint64_t{0x1234}, kCaller + 4, kFunction);
  CHECK(jit.walk_it().frames.size() == 1);
}

TEST_CASE("rbp is not taken for a frame pointer where the code says that it is none") {
  const std::vector<uint8_t> kComputesRsp = {
      0x55,              // 0 push %rbp
      0x48, 0x89, 0xfd,  // 1 mov %rdi,%rbp: a pointer that happens to look like a frame pointer
      0x48, 0x29, 0xf4,  // 4 sub %rsi,%rsp
      0x90,              // 7 nop
  };
  constexpr uint64_t kComputing = 0x40002000;
  JitStack jit;
  jit.load(kComputing, kComputesRsp);
  jit.sample.registers.set(Register::rip, kComputing + 7);
  jit.sample.registers.set(Register::rsp, kStack);
  jit.sample.registers.set(Register::rbp, kCallersRbp);
  CHECK(jit.walk_it().frames.size() == 1);
  CHECK(jit.walk_it().stop == StopReason::kNoUnwindInfo);
}

TEST_CASE("a call through a wild pointer is left by the return address it pushed") {
  JitStack jit;
  uint64_t pc = GENERATE(uint64_t{0}, uint64_t{0x1234}, uint64_t{1} << 60);
  jit.sample.registers.set(Register::rip, pc);
  jit.sample.registers.set(Register::rsp, kStack);
  jit.sample.registers.set(Register::rbp, kCallersRbp);
  jit.word(kStack) = kCaller + kCallInCaller;
  tests::KeptWalk walk = jit.walk_it();
  REQUIRE(walk.frames.size() == 3);
  CHECK(walk.frames[1].pc == RuntimeAddr{kCaller + kCallInCaller});
  CHECK(walk.frames[1].frame.sniffer == Sniffers::kFramePointer.index);
  CHECK(walk.frames[2].pc == RuntimeAddr{kUnknown + 0x10});

  SECTION("of a jump nothing is known") { jit.word(kStack) = kCaller + 4; }
  SECTION("nor where code may be that nobody told of") {
    jit.sample.registers.set(Register::rip, 0x60000000);
  }
  CHECK(jit.walk_it().frames.size() == 1);
  CHECK(jit.walk_it().stop == StopReason::kUnmapped);
}

TEST_CASE("V8's baseline code has a frame pointer behind its first call") {
  constexpr uint64_t kBaseline = 0x40002000;
  JitStack jit;
  // mov $1,%ecx; call BaselineOutOfLinePrologue; nop; call; nop
  jit.load(kBaseline, {0xb9, 1, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x90, 0xe8, 0, 0, 0, 0, 0x90}, "JS:^mid x.js:1:1");
  const uint64_t sp = kStack + 0x80;
  jit.sample.registers.set(Register::rsp, sp);
  jit.sample.registers.set(Register::rbp, kCallersRbp);
  SECTION("and before it what it had at its entry") {
    uint64_t offset = GENERATE(uint64_t{0}, 5u);
    jit.word(sp) = kCaller + kCallInCaller;
    jit.sample.registers.set(Register::rip, kBaseline + offset);
    tests::KeptWalk walk = jit.walk_it();
    REQUIRE(walk.frames.size() == 3);
    CHECK(walk.frames[1].pc == RuntimeAddr{kCaller + kCallInCaller});
    CHECK(walk.frames[1].registers.find(Register::rbp) == kCallersRbp);
  }
  SECTION("wherever rsp stands") {
    jit.word(kStack + 0xa0) = kCallersRbp;
    jit.word(kStack + 0xa8) = kCaller + kCallInCaller;
    jit.sample.registers.set(Register::rbp, kStack + 0xa0);
    bool is_caller = GENERATE(false, true);
    if (is_caller) {
      // Called by it: code that has made no frame yet.
      jit.word(sp) = kBaseline + 16;
      jit.sample.registers.set(Register::rip, kFunction);
    } else {
      jit.sample.registers.set(Register::rip, kBaseline + 10);
    }
    tests::KeptWalk walk = jit.walk_it();
    REQUIRE(walk.frames.size() == (is_caller ? 4 : 3));
    size_t caller = walk.frames.size() - 2;
    CHECK(walk.frames[caller].pc == RuntimeAddr{kCaller + kCallInCaller});
    CHECK(walk.frames[caller].registers.find(Register::rbp) == kCallersRbp);
  }
}

TEST_CASE("in the midst of an instruction nothing is known") {
  JitStack jit;
  jit.stand_at(11, 6);
  CHECK(jit.walk_it().frames.size() == 1);
}

TEST_CASE("a return address behind the copied bytes is truncated") {
  JitStack jit;
  jit.stand_at(20, 6);
  jit.sample.stack[0].bytes = jit.sample.stack[0].bytes.first(0xc0);
  jit.sample.stack[0].asked = 0xc0;
  tests::KeptWalk walk = jit.walk_it();
  CHECK(walk.frames.size() == 1);
  CHECK(walk.stop == StopReason::kTruncated);
}

TEST_CASE("functions begin where a file's symbols say, labels and cold parts apart") {
  TempDir folder;
  std::string source = folder.write("code.s", R"(
  .text
  .globl outer, inner, unsized
  .type outer, @function
  .type inner, @function
  .type outer.cold, @function
outer: .fill 16, 1, 0x90
inner: .fill 16, 1, 0x90
  .size outer, . - outer
  .size inner, . - inner
unsized: .fill 4, 1, 0x90
label: .fill 4, 1, 0x90
outer.cold: .fill 8, 1, 0x90
  .size outer.cold, . - outer.cold
last: .fill 8, 1, 0x90
  .type last, @function
  .section .text.other, "ax"
  .fill 8, 1, 0x90
  .section .note.GNU-stack
)");
  tests::compile("gcc", {"-c"}, {source}, folder.file("code.o"));
  tests::compile("gcc", {"-shared", "-nostdlib"}, {folder.file("code.o")}, folder.file("code.so"));
  auto elf = ElfFile::open(folder.file("code.so"));
  REQUIRE(elf.ok());
  FunctionStarts starts(elf.value());
  const ElfSection* text = elf.value().find_section(".text");
  REQUIRE(text != nullptr);
  auto begins = [&](uint64_t offset) -> int {
    auto function = starts.find(text->start.plus(offset));
    return function ? static_cast<int>(function->start.distance_from(text->start)) : -1;
  };
  CHECK(begins(0) == 0);
  CHECK(begins(31) == 0);
  CHECK(begins(32) == 32);
  CHECK(begins(39) == 32);
  CHECK(begins(40) == -1);
  CHECK(begins(47) == -1);
  CHECK(begins(48) == 48);
  CHECK_FALSE(starts.find({0}));
  CHECK_FALSE(starts.find({UINT64_MAX}));
}

}  // namespace jitprof
