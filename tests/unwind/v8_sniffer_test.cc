// SPDX-License-Identifier: Apache-2.0
// V8's code at each of its instructions, with the stack that it has there. The bytes are of the forms that V8
// 11.3 writes.
#include <numeric>

#include "tests/catch.h"
#include "tests/unwind/unwinding.h"
#include "unwind/jit/jit_code.h"
#include "unwind/sniff/v8.h"
#include "unwind/walk.h"

namespace jitprof {
namespace {

constexpr uint64_t kStack = 0x7000'0000;
constexpr uint64_t kCode = 0x10000, kCaller = 0x20000, kOuter = 0x30000, kPrologue = 0x40000;
constexpr uint64_t kCallInCaller = 0x83, kCallInOuter = 0x203;
// Of the word on the stack that holds the code's return address, and of the frame of its caller.
constexpr size_t kReturn = 20, kCallersFrame = 30, kOutersFrame = 40;

uint64_t at_word(size_t index) { return kStack + 8 * index; }

// Where code stands and what the stack is like there: the words of rsp and rbp.
struct State {
  uint64_t offset;
  size_t sp, fp;
  std::optional<Register> return_register = {};
};

// mov -8(%rcx),%rbx; testb $1,0x35(%rbx); jne deopt; push %rbp; mov %rsp,%rbp; push %rsi; push %rdi; push
// %rax; sub $16,%rsp; nop; call; mov -24(%rbp),%rcx; mov %rbp,%rsp; pop %rbp; cmp $3,%rcx; jg 1f; ret $24; 1:
// pop %r10; lea (%rsp,%rcx,8),%rsp; push %r10; ret
const std::vector<uint8_t> kOptimized = {
    0x48, 0x8b, 0x59, 0xf8, 0xf6, 0x43, 0x35, 0x01, 0x0f, 0x85, 0x00, 0x10, 0x00, 0x00, 0x55,
    0x48, 0x89, 0xe5, 0x56, 0x57, 0x50, 0x48, 0x83, 0xec, 0x10, 0x90, 0xe8, 0x00, 0x10, 0x00,
    0x00, 0x48, 0x8b, 0x4d, 0xe8, 0x48, 0x89, 0xec, 0x5d, 0x48, 0x83, 0xf9, 0x03, 0x7f, 0x03,
    0xc2, 0x18, 0x00, 0x41, 0x5a, 0x48, 0x8d, 0x24, 0xcc, 0x41, 0x52, 0xc3};
const std::vector<State> kOptimizedStates = {{0x00, 20, 30},
                                             {0x04, 20, 30},
                                             {0x08, 20, 30},
                                             {0x0e, 20, 30},
                                             {0x0f, 19, 30},
                                             {0x12, 19, 19},
                                             {0x13, 18, 19},
                                             {0x14, 17, 19},
                                             {0x15, 16, 19},
                                             {0x19, 14, 19},
                                             {0x1a, 14, 19},
                                             {0x1f, 14, 19},
                                             {0x23, 14, 19},
                                             {0x26, 19, 19},
                                             {0x27, 20, 30},
                                             {0x2b, 20, 30},
                                             {0x2d, 20, 30},
                                             {0x30, 20, 30},
                                             {0x32, 21, 30, Register::r10},
                                             {0x36, 24, 30, Register::r10},
                                             {0x38, 23, 30}};

// mov $24,%ebx; movabs $0,%r12; call; push %rax; push %rax; leave; pop %rcx; add $16,%rsp; push %rcx; ret
const std::vector<uint8_t> kBaseline = {0xbb, 0x18, 0,    0,    0,    0x49, 0xbc, 0,    0,    0,
                                        0,    0,    0,    0,    0,    0xe8, 0,    0x10, 0,    0,
                                        0x50, 0x50, 0xc9, 0x59, 0x48, 0x83, 0xc4, 0x10, 0x51, 0xc3};
const std::vector<State> kBaselineStates = {{0, 20, 30},
                                            {5, 20, 30},
                                            {15, 20, 30},
                                            {20, 12, 19},
                                            {21, 11, 19},
                                            {22, 10, 19},
                                            {23, 20, 30},
                                            {24, 21, 30, Register::rcx},
                                            {28, 23, 30, Register::rcx},
                                            {29, 22, 30}};

// Called by that: pop %r15; push %rbp; mov %rsp,%rbp; push %rsi; push %rdi; push %rax; push %r15; ret
const std::vector<uint8_t> kOutOfLinePrologue = {0x41, 0x5f, 0x55, 0x48, 0x89, 0xe5,
                                                 0x56, 0x57, 0x50, 0x41, 0x57, 0xc3};
const std::vector<State> kOutOfLineStates = {{0, 19, 30},
                                             {2, 20, 30, Register::r15},
                                             {3, 19, 30, Register::r15},
                                             {6, 19, 19, Register::r15},
                                             {7, 18, 19, Register::r15},
                                             {8, 17, 19, Register::r15},
                                             {9, 16, 19, Register::r15},
                                             {11, 15, 19}};

// A process whose code is all V8's: the code under test, called by code whose bytes are unknown.
class V8Process {
 public:
  V8Process() : words_(64, 0xdead) {
    processes_.apply(MapEvent{
        .pid = 1, .tid = 1, .start = {kCode}, .size = 0x40000, .is_executable = true, .path = "//anon"});
    load(kCaller, "JS:~caller f.js:1:1", 0x378, {});
    load(kOuter, "JS:~outer f.js:9:1", 0x378, {});
    words_[kCallersFrame] = at_word(kOutersFrame);
    words_[kCallersFrame + 1] = kOuter + kCallInOuter;
    words_[kOutersFrame] = 0;
    words_[kOutersFrame + 1] = 0;
    sample.pid = sample.tid = 1;
  }

  void load(uint64_t start, const std::string& name, uint64_t size, const std::vector<uint8_t>& bytes) {
    JitCode code;
    code.name = name;
    code.size = size;
    auto raw = std::as_bytes(std::span(bytes));
    code.bytes.assign(raw.begin(), raw.end());
    codes_.push_back(std::move(code));
    auto index = static_cast<uint32_t>(codes_.size() - 1);
    processes_.apply(JitChange{.pid = 1, .code = index, .start = {start}, .size = size}, codes_);
  }
  uint64_t& word(size_t index) { return words_[index]; }

  // Walks from there; what is below rsp is not on the stack. `return_pc`: of the code at rip.
  const UnwoundStack& walk_from(uint64_t start, const State& state, uint64_t return_pc) {
    sample.registers = {};
    sample.registers.set(Register::rip, start + state.offset);
    sample.registers.set(Register::rsp, at_word(state.sp));
    sample.registers.set(Register::rbp, at_word(state.fp));
    if (state.return_register) sample.registers.set(*state.return_register, return_pc);
    auto live = std::as_bytes(std::span(words_)).subspan(8 * state.sp);
    sample.stack[0] = {.start = {at_word(state.sp)}, .bytes = live, .asked = live.size()};
    sample.stack_count = 1;
    unwind(sample, processes_, processes_.process(1), unwinding_.places, kDefaultMaxDepth, stack_);
    return stack_;
  }
  std::string sniffer_of(size_t frame) const {
    return unwinding_.sniffers.entry({stack_.frames[frame].sniffer}).name;
  }

  Sample sample;

 private:
  std::vector<uint64_t> words_;
  std::deque<JitCode> codes_;
  ModuleTable modules_{""};
  ProcessTable processes_{modules_};
  tests::Unwinding unwinding_{modules_};
  UnwoundStack stack_;
};

// The offsets of the callers in their code, innermost first.
std::vector<uint64_t> callers(const UnwoundStack& stack) {
  std::vector<uint64_t> offsets;
  for (size_t i = 1; i < stack.frames.size(); ++i) offsets.push_back(stack.frames[i].position.value);
  return offsets;
}

const std::vector<uint64_t> kTrueCallers = {kCallInCaller - 1, kCallInOuter - 1};

void check_each_state(const std::string& name, const std::vector<uint8_t>& bytes,
                      const std::vector<State>& states) {
  for (const State& state : states) {
    INFO(name << " +" << state.offset);
    V8Process process;
    process.load(kCode, name, bytes.size(), bytes);
    uint64_t return_pc = kCaller + kCallInCaller;
    bool is_pushed_again = state.sp > kReturn && !state.return_register;
    process.word(is_pushed_again ? state.sp : kReturn) = return_pc;
    process.word(kReturn - 1) = at_word(kCallersFrame);
    CHECK(callers(process.walk_from(kCode, state, return_pc)) == kTrueCallers);
    CHECK(process.sniffer_of(1) == "v8");
  }
}

}  // namespace

TEST_CASE("optimised code of V8 is left right at each of its instructions") {
  check_each_state("JS:*hot f.js:3:1", kOptimized, kOptimizedStates);
}

TEST_CASE("baseline code of V8 is left right at each of its instructions") {
  check_each_state("JS:^hot f.js:3:1", kBaseline, kBaselineStates);
}

TEST_CASE("the frame of baseline code may be made by what it calls") {
  for (const State& state : kOutOfLineStates) {
    INFO("+" << state.offset);
    V8Process process;
    process.load(kCode, "JS:^hot f.js:3:1", kBaseline.size(), kBaseline);
    process.load(kPrologue, "Builtin:BaselineOutOfLinePrologue", kOutOfLinePrologue.size(),
                 kOutOfLinePrologue);
    process.word(kReturn) = kCaller + kCallInCaller;
    bool is_called = state.offset == 0;
    process.word(kReturn - 1) = is_called ? kCode + 20 : at_word(kCallersFrame);
    if (state.offset == 11) process.word(state.sp) = kCode + 20;
    std::vector<uint64_t> wanted = {19};
    wanted.insert(wanted.end(), kTrueCallers.begin(), kTrueCallers.end());
    CHECK(callers(process.walk_from(kPrologue, state, kCode + 20)) == wanted);
  }
}

TEST_CASE("a perf map's optimised code is left right before its frame stands, and in its body") {
  for (const State& state : kOptimizedStates) {
    if (state.offset > 0x23) break;
    INFO("+" << state.offset);
    V8Process process;
    process.load(kCode, "JS:*hot f.js:3:1", kOptimized.size(), {});
    process.word(kReturn) = kCaller + kCallInCaller;
    process.word(kReturn - 1) = at_word(kCallersFrame);
    CHECK(callers(process.walk_from(kCode, state, 0)) == kTrueCallers);
  }
}

TEST_CASE("other code made at run time is none of V8's") {
  V8Process process;
  process.load(kCode, "hot", kOptimized.size(), kOptimized);
  process.word(kReturn) = kCaller + kCallInCaller;
  (void)process.walk_from(kCode, kOptimizedStates[0], 0);
  CHECK(process.sniffer_of(1) == "prologue");
}

}  // namespace jitprof
