// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/sniffers.h"

#include <algorithm>
#include <numeric>

#include "tests/catch.h"
#include "tests/unwind/unwinding.h"
#include "unwind/call_site.h"
#include "unwind/walk.h"

namespace jitprof {
namespace {

constexpr uint64_t kCode = 0x10000;
constexpr uint64_t kStack = 0x7000'0000;

// Answers each frame of its kind by a function; declines where that gives nothing.
class Scripted : public Sniffer {
 public:
  using Answer = std::optional<UnwindInfo> (*)(const PendingFrame&);
  explicit Scripted(Answer answer) : answer_(answer) {}
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override { return answer_(frame); }

 private:
  Answer answer_;
};

Sniffers::Entry scripted(std::string name, Locus locus, Scripted::Answer answer, std::string object = "") {
  return {.name = std::move(name),
          .locus = locus,
          .object = std::move(object),
          .sniffer = std::make_unique<Scripted>(answer)};
}

std::optional<UnwindInfo> decline(const PendingFrame&) { return std::nullopt; }

// Frames of two words: one that means nothing, then the return address.
std::optional<UnwindInfo> two_words(const PendingFrame& frame) {
  uint64_t sp = *frame.find(Register::rsp);
  Recovered return_pc = frame.read({sp + 8});
  if (!return_pc.ok()) return std::nullopt;
  UnwindInfo info;
  info.id.cfa = {sp + 16};
  info.caller.set(Register::rip, return_pc.value());
  info.caller.set(Register::rsp, sp + 16);
  return info;
}

// Code of a JIT: memory without a file, of which nothing is known; and a stack whose every word is a return
// address into it, unless a test says otherwise.
class JitStack {
 public:
  explicit JitStack(size_t words = 16) : words_(words, kCode + 0x80) {
    processes_.apply(MapEvent{
        .pid = 1, .tid = 1, .start = {kCode}, .size = 0x1000, .is_executable = true, .path = "//anon"});
    sample.pid = sample.tid = 1;
    sample.registers.set(Register::rip, kCode + 0x10);
    sample.registers.set(Register::rsp, kStack);
    sample.registers.set(Register::rbx, 0xb0b0);
    set_asked(words * 8);
  }
  void set_asked(uint64_t bytes) {
    sample.stack[0] = {.start = {kStack}, .bytes = std::as_bytes(std::span(words_)), .asked = bytes};
    sample.stack_count = 1;
  }

  uint64_t& word(size_t index) { return words_[index]; }
  void walk_it() {
    unwind(sample, processes_, processes_.process(1), unwinding.places, kDefaultMaxDepth, stack);
  }
  std::string sniffer_of(size_t frame) const {
    return unwinding.sniffers.entry({stack.frames[frame].sniffer}).name;
  }

 private:
  std::vector<uint64_t> words_;
  ModuleTable modules_{""};
  ProcessTable processes_{modules_};

 public:
  tests::Unwinding unwinding{modules_};
  Sample sample;
  UnwoundStack stack;
};

std::vector<std::string> names_in_order(const Sniffers& sniffers) {
  std::vector<std::string> names;
  for (SnifferId id : sniffers.order()) names.push_back(sniffers.entry(id).name);
  return names;
}

}  // namespace

TEST_CASE("sniffers are asked by locus, the newest of a locus first") {
  Sniffers sniffers;
  CHECK(names_in_order(sniffers) ==
        std::vector<std::string>{"cfi", "v8", "fixed-frame", "prologue", "frame-pointer"});
  REQUIRE(sniffers.add(scripted("vm", Locus::kProgramSpace, decline)).ok());
  REQUIRE(sniffers.add(scripted("guess", Locus::kGlobal, decline)).ok());
  REQUIRE(sniffers.add(scripted("libvm", Locus::kObjectFile, decline, "libvm.so")).ok());
  REQUIRE(sniffers.add(scripted("vm2", Locus::kProgramSpace, decline)).ok());
  std::vector<std::string> wanted = {"libvm",       "cfi",   "vm2",      "vm",           "v8",
                                     "fixed-frame", "guess", "prologue", "frame-pointer"};
  CHECK(names_in_order(sniffers) == wanted);
}

TEST_CASE("two sniffers of one name in one locus are an error unless one replaces the other") {
  Sniffers sniffers;
  REQUIRE(sniffers.add(scripted("vm", Locus::kProgramSpace, decline)).ok());
  CHECK(sniffers.add(scripted("vm", Locus::kGlobal, decline)).ok());
  Status twice = sniffers.add(scripted("vm", Locus::kProgramSpace, decline));
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().message.find("'vm'") != std::string::npos);
  CHECK(sniffers.add(scripted("vm", Locus::kProgramSpace, two_words, "other"), true).ok());
  CHECK(sniffers.order().size() == 7);
  CHECK(sniffers.entry({5}).object == "other");
  CHECK_FALSE(sniffers.set_enabled("nobody", false).ok());
}

TEST_CASE("the first sniffer that knows a frame unwinds it, and the frame remembers which") {
  JitStack jit;
  Sniffers& sniffers = jit.unwinding.sniffers;
  REQUIRE(sniffers.add(scripted("words", Locus::kGlobal, two_words)).ok());
  REQUIRE(sniffers.add(scripted("nothing", Locus::kProgramSpace, decline)).ok());
  jit.word(15) = 0;
  jit.walk_it();
  CHECK(jit.stack.stop == StopReason::kNoUnwindInfo);
  REQUIRE(jit.stack.frames.size() == 8);
  CHECK(jit.stack.frames[0].origin == FrameOrigin::kTop);
  for (size_t i = 1; i < 8; ++i) CHECK(jit.sniffer_of(i) == "words");

  REQUIRE(sniffers.set_enabled("words", false).ok());
  jit.walk_it();
  CHECK(jit.stack.stop == StopReason::kNoUnwindInfo);
  CHECK(jit.stack.frames.size() == 1);
}

TEST_CASE("a sniffer of an object or of a process is asked about nothing else") {
  for (Locus locus : {Locus::kObjectFile, Locus::kProgramSpace}) {
    for (bool is_owner : {true, false}) {
      JitStack jit;
      std::string object = is_owner ? "anon" : "other.so";
      REQUIRE(jit.unwinding.sniffers.add(scripted("words", locus, two_words, object)).ok());
      jit.walk_it();
      CHECK((jit.stack.frames.size() > 1) == is_owner);
    }
  }
}

TEST_CASE("answers that cannot be are refused, counted, and the next sniffer is asked") {
  auto bad = GENERATE(
      as<Scripted::Answer>(),
      [](const PendingFrame& frame) {
        auto info = two_words(frame);
        if (info) info->id.cfa = frame.place().low.minus(8);
        return info;
      },
      [](const PendingFrame& frame) {
        auto info = two_words(frame);
        if (info) info->id.cfa = {uint64_t{1} << 60};
        return info;
      },
      [](const PendingFrame& frame) {
        auto info = two_words(frame);
        if (info) info->caller.set(Register::rsp, 0x10);
        return info;
      },
      [](const PendingFrame& frame) {
        auto info = two_words(frame);
        if (info) info->caller.forget(Register::rip);
        return info;
      });
  JitStack jit;
  jit.word(15) = 0;
  REQUIRE(jit.unwinding.sniffers.add(scripted("good", Locus::kGlobal, two_words)).ok());
  REQUIRE(jit.unwinding.sniffers.add(scripted("bad", Locus::kProgramSpace, bad)).ok());
  jit.walk_it();
  CHECK(jit.stack.frames.size() == 8);
  CHECK(jit.sniffer_of(1) == "good");
  uint64_t refused = 0;
  for (const auto& [what, count] : jit.unwinding.places.refusals()) {
    if (jit.unwinding.sniffers.entry(what.first).name == "bad") refused += count;
  }
  CHECK(refused == 8);
  // The last frame of the good one returns to 0.
  CHECK(jit.unwinding.places.refusals().size() == 2);
}

TEST_CASE("a sniffer may end a stack: at its root, or where the recorded bytes do") {
  auto [reason, answer] =
      GENERATE(std::pair<StopReason, Scripted::Answer>(StopReason::kReachedRoot,
                                                       [](const PendingFrame&) {
                                                         UnwindInfo info;
                                                         info.stop = StopReason::kReachedRoot;
                                                         return std::optional(info);
                                                       }),
               std::pair<StopReason, Scripted::Answer>(StopReason::kTruncated, [](const PendingFrame&) {
                 UnwindInfo info;
                 info.stop = StopReason::kTruncated;
                 return std::optional(info);
               }));
  JitStack jit;
  REQUIRE(jit.unwinding.sniffers.add(scripted("end", Locus::kGlobal, answer)).ok());
  jit.walk_it();
  CHECK(jit.stack.stop == reason);
  CHECK(jit.stack.frames.size() == 1);
}

TEST_CASE("registers come by number or name; one that is unknown is unavailable, one that is none an error") {
  JitStack jit;
  auto ask = [](const PendingFrame& frame) -> std::optional<UnwindInfo> {
    CHECK(frame.find(Register::rsp) == frame.find("rsp").value());
    CHECK_FALSE(frame.find("xmm0").ok());
    CHECK(frame.find("r15").value() == std::nullopt);
    // Not followed by the walk, so the sample is gone over again.
    CHECK(frame.find(Register::rbx) == (frame.place().is_top ? std::optional<uint64_t>(0xb0b0) : 0x5000));
    auto info = two_words(frame);
    if (info) info->caller.set(Register::rbx, 0x5000);
    return info;
  };
  REQUIRE(jit.unwinding.sniffers.add(scripted("asks", Locus::kGlobal, ask)).ok());
  jit.walk_it();
  CHECK(jit.stack.frames.size() > 3);
}

TEST_CASE("the frame pointer is followed where nothing else knows the code, and only if all of it fits") {
  JitStack jit(32);
  // rbp -> word 4: caller's rbp, return address; -> word 10; -> word 20, whose rbp is 0.
  jit.sample.registers.set(Register::rbp, kStack + 4 * 8);
  jit.word(4) = kStack + 10 * 8;
  jit.word(5) = kCode + 0x100;
  jit.word(10) = kStack + 20 * 8;
  jit.word(11) = kCode + 0x200;
  jit.word(20) = 0;
  jit.word(21) = kCode + 0x300;
  jit.walk_it();
  REQUIRE(jit.stack.frames.size() == 4);
  CHECK(jit.stack.stop == StopReason::kNoUnwindInfo);
  for (size_t i = 1; i < 4; ++i) {
    CHECK(jit.sniffer_of(i) == "frame-pointer");
    CHECK(jit.stack.frames[i].position == ElfAddr{kCode + i * 0x100 - 1});
  }

  SECTION("not aligned") { jit.sample.registers.set(Register::rbp, kStack + 4 * 8 + 1); }
  SECTION("below the stack pointer") { jit.sample.registers.set(Register::rbp, kStack - 64); }
  SECTION("no code behind it") { jit.word(5) = 0x900000; }
  SECTION("unknown") { jit.sample.registers.forget(Register::rbp); }
  SECTION("not on the stack") { jit.sample.registers.set(Register::rbp, uint64_t{1} << 60); }
  SECTION("behind a copy that the memory's end cut short") {
    jit.set_asked(4096);
    jit.sample.registers.set(Register::rbp, kStack + 32 * 8);
  }
  SECTION("disabled") { REQUIRE(jit.unwinding.sniffers.set_enabled("frame-pointer", false).ok()); }
  jit.walk_it();
  CHECK(jit.stack.frames.size() == 1);
  CHECK(jit.stack.stop == StopReason::kNoUnwindInfo);
}

TEST_CASE("a frame pointer that leads behind the copied bytes says truncated") {
  JitStack jit;
  jit.sample.registers.set(Register::rbp, kStack + 64 * 8);
  jit.walk_it();
  CHECK(jit.stack.frames.size() == 1);
  CHECK(jit.stack.stop == StopReason::kTruncated);
}

TEST_CASE("calls of every length are recognised before a return address") {
  auto is_call = [](std::initializer_list<uint8_t> code) {
    return ends_in_call(std::as_bytes(std::span(code.begin(), code.size())));
  };
  CHECK(is_call({0xe8, 1, 2, 3, 4}));
  CHECK(is_call({0x90, 0x90, 0xe8, 1, 2, 3, 4}));
  CHECK(is_call({0xff, 0xd0}));                    // call *%rax
  CHECK(is_call({0x41, 0xff, 0xd4}));              // call *%r12
  CHECK(is_call({0xff, 0x10}));                    // call *(%rax)
  CHECK(is_call({0xff, 0x50, 0x18}));              // call *0x18(%rax)
  CHECK(is_call({0xff, 0x14, 0xc8}));              // call *(%rax,%rcx,8)
  CHECK(is_call({0xff, 0x54, 0x24, 0x10}));        // call *0x10(%rsp)
  CHECK(is_call({0xff, 0x15, 1, 2, 3, 4}));        // call *0x4030201(%rip)
  CHECK(is_call({0xff, 0x90, 1, 2, 3, 4}));        // call *0x4030201(%rax)
  CHECK(is_call({0xff, 0x14, 0xc5, 1, 2, 3, 4}));  // call *0x4030201(,%rax,8)
  CHECK(is_call({0xff, 0x94, 0xc8, 1, 2, 3, 4}));  // call *0x4030201(%rax,%rcx,8)
  CHECK_FALSE(is_call({}));
  CHECK_FALSE(is_call({0xe8}));
  CHECK_FALSE(is_call({0xff, 0xe0}));  // jmp *%rax
  CHECK_FALSE(is_call({0x0f, 0x05}));  // syscall
  CHECK_FALSE(is_call({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}));
  CHECK_FALSE(is_call({0xff, 0x50}));  // cut off
}

}  // namespace jitprof
