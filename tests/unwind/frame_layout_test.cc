// SPDX-License-Identifier: Apache-2.0
// Layouts read from code, against what its compiler wrote into CFI, at every instruction.
#include "unwind/sniff/frame_layout.h"

#include <algorithm>
#include <random>
#include <set>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "unwind/cfi/rule_text.h"
#include "unwind/cfi/unwind_table.h"
#include "unwind/sniff/instruction.h"

namespace jitprof {
namespace {

using tests::TempDir;
using Kind = Instruction::Kind;
using Saved = FrameLayout::Saved;

constexpr Register kCalleeSaved[] = {Register::rbx, Register::rbp, Register::r12,
                                     Register::r13, Register::r14, Register::r15};

enum class Verdict { kEqual, kDeclined, kWrong };

// CFI goes on naming the slots of registers that were popped, and need not name one that was stored and not
// changed yet.
Verdict verdict_of(const FrameLayout::Saved& ours, const RegisterRule& cfi, bool was_popped) {
  if (ours.kind == Saved::Kind::kLost) return Verdict::kDeclined;
  if (cfi.kind == RegisterRule::Kind::kSameValue) return Verdict::kEqual;
  if (cfi.kind != RegisterRule::Kind::kAtCfaOffset) return Verdict::kDeclined;
  if (ours.kind == Saved::Kind::kAtCfaOffset)
    return ours.offset == cfi.offset ? Verdict::kEqual : Verdict::kWrong;
  return was_popped ? Verdict::kEqual : Verdict::kWrong;
}

Verdict verdict_of(const FrameLayout& ours, const UnwindRule& cfi, uint32_t popped) {
  if (cfi.cfa != UnwindRule::Cfa::kRegisterOffset || cfi.cfa_register != ours.base) return Verdict::kDeclined;
  if (cfi.cfa_offset != ours.cfa_offset) return Verdict::kWrong;
  Verdict worst = Verdict::kEqual;
  for (Register number : kCalleeSaved) {
    bool was_popped = popped >> static_cast<unsigned>(number) & 1;
    worst = std::max(worst, verdict_of(ours.of(number), cfi.of(number), was_popped));
  }
  return worst;
}

std::string text_of(const FrameLayout& layout) {
  if (!layout.base) return "no base";
  std::string text = std::string("CFA=") + name_of(*layout.base) + "+" + std::to_string(layout.cfa_offset);
  for (Register number : kCalleeSaved) {
    const Saved& saved = layout.of(number);
    if (saved.kind == Saved::Kind::kLost) text += std::string(" ") + name_of(number) + " lost";
    if (saved.kind == Saved::Kind::kAtCfaOffset)
      text += std::string(" ") + name_of(number) + "=[CFA" + std::to_string(saved.offset) + "]";
  }
  return text;
}

bool is_end(Kind kind) {
  return kind == Kind::kJump || kind == Kind::kJumpFar || kind == Kind::kReturn || kind == Kind::kTrap;
}

// Every function of a file that has a symbol and CFI, or every `step`-th.
class Comparison {
 public:
  explicit Comparison(const std::string& path, size_t step = 1) {
    auto elf = ElfFile::open(path);
    REQUIRE(elf.ok());
    table_ = UnwindTable::compile(elf.value());
    std::set<ElfAddr> known;
    for (const ElfSymbol& symbol : elf.value().code_symbols()) {
      // A part of a function that begins in its midst.
      if (symbol.size == 0 || symbol.name.find(".cold") != std::string_view::npos) continue;
      if (!known.insert(symbol.start).second || known.size() % step != 0) continue;
      Bytes code = elf.value().bytes_from(symbol.start);
      compare(symbol, code.first(std::min<uint64_t>(code.size(), symbol.size)));
    }
  }

  uint64_t equal = 0, declined = 0, wrong = 0;
  std::string differences;  // the first of them

  double equal_share() const {
    return static_cast<double>(equal) / static_cast<double>(equal + declined + wrong);
  }

 private:
  // One function.
  void compare(const ElfSymbol& symbol, Bytes code) {
    bool is_reached = true;
    popped_ = 0;
    for (uint64_t at = 0; at < code.size();) {
      auto instruction = decode_instruction(code.subspan(at));
      if (!instruction) return;
      // What aligns the code behind a jump is never run.
      bool is_run = is_reached || instruction->kind != Kind::kNothing;
      const UnwindRule* rule = table_.find(symbol.start.plus(at));
      if (is_run && rule != nullptr && !rule->is_root() && !rule->is_signal_frame) {
        compare(symbol, code, at, *rule, CallState::kAtInstruction);
        if (instruction->kind == Kind::kCall || instruction->kind == Kind::kCallFar)
          compare(symbol, code, at + instruction->size - 1, *rule, CallState::kInCall);
      }
      if (is_run) is_reached = !is_end(instruction->kind);
      note_popped(*instruction);
      at += instruction->size;
    }
  }

  void compare(const ElfSymbol& symbol, Bytes code, uint64_t at, const UnwindRule& rule, CallState state) {
    auto layout = decode_frame(code, at, state);
    Verdict verdict = layout ? verdict_of(*layout, rule, popped_) : Verdict::kDeclined;
    equal += verdict == Verdict::kEqual;
    declined += verdict == Verdict::kDeclined;
    wrong += verdict == Verdict::kWrong;
    if (verdict == Verdict::kEqual || differences.size() > 10'000) return;
    differences += std::string(symbol.name) + "+" + std::to_string(at) +
                   (verdict == Verdict::kWrong ? " wrong: " : ": ") + (layout ? text_of(*layout) : "none") +
                   ", CFI " + to_text(rule) + "\n";
  }

  // CFI never says that a register is back in an epilogue.
  void note_popped(const Instruction& its) {
    bool is_load = its.kind == Kind::kLoad && (its.source == Register::rbp || its.source == Register::rsp);
    if ((its.kind == Kind::kPop || is_load) && its.target)
      popped_ |= 1u << static_cast<unsigned>(*its.target);
    if (its.kind == Kind::kLeave) popped_ |= 1u << static_cast<unsigned>(Register::rbp);
    if (its.kind == Kind::kPush || its.kind == Kind::kCall || is_end(its.kind)) popped_ = 0;
  }

  uint32_t popped_ = 0;  // by what led to the instruction
  UnwindTable table_;
};

constexpr const char* kCode = R"(
  #include <cstdio>
  #include <stdexcept>
  #include <string>
  #include <vector>
  struct Large { long values[20]; };
  int use(void*, void* = nullptr);
  int many(int, int, int, int, int, int, long, Large, int);
  int choose(int n, Large& large) {
    switch (n) {
      case 0: return many(n, 1, 2, 3, 4, 5, 6, large, 7) + 1;
      case 1: return use(&large);
      case 2: { char room[9000]; return use(room) + use(&n); }
      case 3: return many(n, 1, 2, 3, 4, 5, 6, large, n + 7) * n;
      case 4: std::printf("%d\n", n); break;
      case 5: return use(&n, &large) + n;
      case 6: return use(nullptr) ? choose(n + 1, large) : 3;
      default: return 5;
    }
    return many(n, n, n, n, n, n, n, large, n);
  }
  int sized(int n) { void* more = __builtin_alloca(n); return use(&n, more) + n; }
  int early(Large* large) {
    if (large == nullptr) return 0;
    int sum = 0;
    for (long value : large->values) {
      if (value == 3) continue;
      int copy[4] = {(int)value, sum, 0, 0};
      sum += use(copy);
      if (sum > 100) return use(large, copy);
    }
    return sum;
  }
  int thrower(const std::string& text, std::vector<int>& into) {
    std::string copy = text + "!";
    if (copy.size() > 3) throw std::runtime_error(copy);
    try {
      for (char letter : copy) into.push_back(letter);
    } catch (const std::bad_alloc&) { use(&copy); }
    std::printf("%s\n", copy.c_str());
    return into.size();
  }
  int leaf(int a, int b) { return a * b; }
  int tail(int n) { return n > 3 ? use(&n) : leaf(n, n); }
  __attribute__((noreturn)) void ends_in_a_call(int n) { if (n) __builtin_abort(); throw n; }
)";

}  // namespace

TEST_CASE("layouts read from compiled code are what its CFI says") {
  TempDir folder;
  std::string source = folder.write("code.cc", kCode), output = folder.file("code.so");
  for (const char* compiler : {"g++", "clang++-16"}) {
    for (const char* level : {"-O0", "-O2"}) {
      for (const char* frame : {"-fomit-frame-pointer", "-fno-omit-frame-pointer"}) {
        tests::compile(compiler, {level, frame, "-shared", "-fPIC"}, {source}, output);
        Comparison its(output);
        INFO(compiler << " " << level << " " << frame << ": equal " << its.equal << "\n" << its.differences);
        CHECK(its.wrong == 0);
        CHECK(its.equal > 300);
        CHECK(its.equal_share() >= 0.95);
      }
    }
  }
}

TEST_CASE("layouts read from an installed library are what its CFI says") {
  // Each is decoded from its function's start on, so a part of them takes a second.
  Comparison its("/lib/x86_64-linux-gnu/libc.so.6", 8);
  INFO(its.differences);
  CHECK(its.wrong == 0);
  CHECK(its.equal_share() >= 0.99);
}

TEST_CASE("a return address that is popped is followed into its register and back") {
  // V8's way out: it drops as many arguments as the caller passed.
  std::vector<uint8_t> code = {
      0x55,                    // 0 push %rbp
      0x48, 0x89, 0xe5,        // 1 mov %rsp,%rbp
      0x57,                    // 4 push %rdi
      0xff, 0xd0,              // 5 call *%rax
      0x48, 0x8b, 0x4d, 0x10,  // 7 mov 0x10(%rbp),%rcx
      0x48, 0x8b, 0xe5, 0x5d,  // 11 mov %rbp,%rsp; 14 pop %rbp
      0x41, 0x5a,              // 15 pop %r10
      0x48, 0x8d, 0x24, 0xcc,  // 17 lea (%rsp,%rcx,8),%rsp
      0x41, 0x52,              // 21 push %r10
      0xc3,                    // 23 ret
  };
  Bytes bytes = std::as_bytes(std::span(code));
  auto text_at = [&](uint64_t offset) {
    auto layout = decode_frame(bytes, offset, CallState::kAtInstruction);
    return layout ? text_of(*layout) : "";
  };
  CHECK(text_at(1) == "CFA=rsp+16 rbp=[CFA-16]");
  CHECK(text_at(4) == "CFA=rbp+16 rbp=[CFA-16]");
  CHECK(text_at(11) == "CFA=rbp+16 rbp=[CFA-16]");
  CHECK(text_at(15) == "CFA=rsp+8");
  for (uint64_t offset : {17, 21}) {
    CHECK(text_at(offset) == "CFA=rsp+0");
    CHECK(decode_frame(bytes, offset, CallState::kAtInstruction)->return_register == Register::r10);
  }
  CHECK(text_at(23) == "CFA=rsp+8");
  CHECK(decode_frame(bytes, 6, CallState::kInCall).has_value());
  for (uint64_t offset : {4, 5, 7}) CHECK_FALSE(decode_frame(bytes, offset, CallState::kInCall));
}

TEST_CASE("code that only a jump back reaches has the frame of where that comes from") {
  // As V8 lays out regular expressions.
  std::vector<uint8_t> code = {
      0xeb, 0x05,              // 0 jmp 7
      0xff, 0xd0,              // 2 call *%rax
      0xc9, 0xc3,              // 4 leave; ret
      0x90,                    // 6 nop
      0x55,                    // 7 push %rbp
      0x48, 0x89, 0xe5,        // 8 mov %rsp,%rbp
      0x48, 0x83, 0xec, 0x20,  // 11 sub $32,%rsp
      0xeb, 0xf1,              // 15 jmp 2
  };
  std::vector<uint8_t> frameless = code;
  frameless[9] = frameless[8] = frameless[7] = 0x90;
  frameless[15] = 0xc3;
  auto text_at = [](const std::vector<uint8_t>& bytes, uint64_t offset) {
    auto layout = decode_frame(std::as_bytes(std::span(bytes)), offset, CallState::kAtInstruction);
    return layout ? text_of(*layout) : "";
  };
  CHECK(text_at(code, 0) == "CFA=rsp+8");
  CHECK(text_at(code, 2) == "CFA=rbp+16 rbp=[CFA-16]");
  CHECK(text_at(code, 5) == "CFA=rsp+8");
  CHECK(text_at(code, 7) == "CFA=rsp+8");
  CHECK(text_at(code, 11) == "CFA=rbp+16 rbp=[CFA-16]");
  CHECK(text_at(frameless, 2) == "CFA=rsp+8");
}

TEST_CASE("code that moves rsp by a computed amount and keeps no pointer has a layout without a base") {
  std::vector<uint8_t> code = {
      0x55,              // 0 push %rbp
      0x48, 0x89, 0xfd,  // 1 mov %rdi,%rbp
      0x48, 0x29, 0xf4,  // 4 sub %rsi,%rsp
      0x90,              // 7 nop
  };
  Bytes bytes = std::as_bytes(std::span(code));
  auto before = decode_frame(bytes, 4, CallState::kAtInstruction);
  auto behind = decode_frame(bytes, 7, CallState::kAtInstruction);
  REQUIRE((before && behind));
  CHECK(text_of(*before) == "CFA=rsp+16 rbp=[CFA-16]");
  CHECK(text_of(*behind) == "no base");
}

TEST_CASE("bytes that are no code, and code with wrong bytes, end in an answer or none") {
  auto elf = ElfFile::open("/lib/x86_64-linux-gnu/libc.so.6");
  REQUIRE(elf.ok());
  const ElfSection* text = elf.value().find_section(".text");
  REQUIRE(text != nullptr);
  Bytes real = elf.value().raw(*text);
  for (unsigned round = 0; round < 2000; ++round) {
    std::minstd_rand random(round + 1);
    std::vector<std::byte> code(1 + random() % 600);
    bool is_flipped = round % 2 != 0;
    if (is_flipped)
      std::copy_n(real.begin() + random() % (real.size() - code.size()), code.size(), code.begin());
    for (size_t changes = is_flipped ? 1 + random() % 20 : code.size(); changes > 0; --changes)
      code[is_flipped ? random() % code.size() : changes - 1] = static_cast<std::byte>(random() >> 8);
    for (CallState state : {CallState::kAtInstruction, CallState::kInCall}) {
      auto layout = decode_frame(code, random() % code.size(), state);
      if (layout && layout->base == Register::rsp)
        REQUIRE(layout->cfa_offset >= (layout->return_register ? 0 : 8));
    }
  }
}

TEST_CASE("code that is all jumps to different places is given up within its bounds") {
  // Each pushes, and may jump far on: more arrivals, and more different ones, than are kept.
  std::vector<uint8_t> code;
  while (code.size() < 200'000) code.insert(code.end(), {0x50, 0x0f, 0x84, 0, 0, 1, 0});
  auto layout = decode_frame(std::as_bytes(std::span(code)), 60'004, CallState::kAtInstruction);
  CHECK((!layout || layout->cfa_offset > 8));
  CHECK_FALSE(decode_frame(std::as_bytes(std::span(code)), 70'000, CallState::kAtInstruction));
}

}  // namespace jitprof
