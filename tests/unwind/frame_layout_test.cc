// SPDX-License-Identifier: Apache-2.0
// Layouts read from code, against what the code says and against the CFI that compilers write beside it.
#include "unwind/sniff/frame_layout.h"

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "unwind/cfi/unwind_table.h"
#include "unwind/sniff/instruction.h"

namespace jitprof {
namespace {

using tests::TempDir;
using Saved = FrameLayout::Saved;
using Code = std::vector<uint8_t>;

std::optional<FrameLayout> layout_at(const Code& code, uint64_t offset,
                                     CallState state = CallState::kAtInstruction) {
  return decode_frame(std::as_bytes(std::span(code)), offset, state);
}

struct Share {
  uint64_t asked = 0, equal = 0, declined = 0, wrong = 0;
};

// Whether the layout and the CFI row lead to the same caller. A slot that CFI names below rsp was popped.
bool agrees(const FrameLayout& ours, const UnwindRule& cfi) {
  if (ours.base == cfi.cfa_register && ours.cfa_offset != cfi.cfa_offset) return false;
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (!is_callee_saved(number)) continue;
    RegisterRule rule = cfi.of(number);
    const Saved& saved = ours.of(number);
    if (rule.kind == RegisterRule::Kind::kSameValue && saved.kind == Saved::Kind::kLost) return false;
    if (rule.kind != RegisterRule::Kind::kAtCfaOffset) continue;
    bool may_be_popped = ours.base != Register::rsp || -rule.offset > ours.cfa_offset;
    bool is_same = saved.kind == Saved::Kind::kAtCfaOffset && saved.offset == rule.offset;
    if (!is_same && !(may_be_popped && saved.kind == Saved::Kind::kKept)) return false;
  }
  return true;
}

bool is_entry_row(const UnwindRule* row) {
  return row != nullptr && row->cfa == UnwindRule::Cfa::kRegisterOffset &&
         row->cfa_register == Register::rsp && row->cfa_offset == 8;
}

// Some instructions of one function; a long one would cost its square.
void compare(const UnwindTable& table, ElfAddr start, Bytes code, Share& share) {
  constexpr uint64_t kMostAsked = 100;
  uint64_t step = 1 + code.size() / (4 * kMostAsked), count = 0;
  for (uint64_t offset = 0; offset < code.size();) {
    auto its = decode_instruction(code.subspan(offset));
    if (!its) return;
    const UnwindRule* row = table.find(start.plus(offset));
    bool is_padding = its->kind == Instruction::Kind::kNop;
    if (count++ % step == 0 && row != nullptr && !is_padding && !row->is_root() &&
        row->cfa == UnwindRule::Cfa::kRegisterOffset) {
      ++share.asked;
      auto layout = decode_frame(code, offset, CallState::kAtInstruction);
      if (!layout) {
        ++share.declined;
      } else if (agrees(*layout, *row)) {
        ++share.equal;
      } else {
        ++share.wrong;
      }
    }
    offset += its->size;
  }
}

Share compare_file(const std::string& path) {
  auto opened = ElfFile::open(path);
  REQUIRE(opened.ok());
  const ElfFile& elf = opened.value();
  UnwindTable table = UnwindTable::compile(elf);
  Share share;
  for (const ElfSymbol& symbol : elf.code_symbols()) {
    bool is_moved_part = symbol.name.find(".cold") != std::string_view::npos;
    if (symbol.size == 0 || is_moved_part || !is_entry_row(table.find(symbol.start))) continue;
    Bytes code = elf.bytes_from(symbol.start);
    compare(table, symbol.start, code.first(std::min<uint64_t>(code.size(), symbol.size)), share);
  }
  return share;
}

}  // namespace

TEST_CASE("a frame is followed through prologue, body and epilogue") {
  // push %rbp; mov %rsp,%rbp; push %rbx; sub $24,%rsp; call 0; add $24,%rsp; pop %rbx; pop %rbp; ret
  Code code = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x18, 0xe8, 0,
               0,    0,    0,    0x48, 0x83, 0xc4, 0x18, 0x5b, 0x5d, 0xc3};
  CHECK(layout_at(code, 0)->cfa_offset == 8);
  CHECK(layout_at(code, 1)->cfa_offset == 16);
  CHECK(layout_at(code, 1)->of(Register::rbp).offset == -16);
  for (uint64_t offset : {4, 5, 9, 14, 18, 19}) {
    INFO(offset);
    CHECK(layout_at(code, offset)->base == Register::rbp);
    CHECK(layout_at(code, offset)->cfa_offset == 16);
  }
  CHECK(layout_at(code, 9)->of(Register::rbx).offset == -24);
  CHECK(layout_at(code, 13, CallState::kInCall)->cfa_offset == 16);
  CHECK(layout_at(code, 20)->base == Register::rsp);
  CHECK(layout_at(code, 20)->cfa_offset == 8);
  CHECK(layout_at(code, 20)->of(Register::rbp).kind == Saved::Kind::kKept);
  // In the midst of instructions, a caller that does not call, behind the end.
  CHECK_FALSE(layout_at(code, 2));
  CHECK_FALSE(layout_at(code, 14, CallState::kInCall));
  CHECK_FALSE(layout_at(code, 12, CallState::kInCall));
  CHECK_FALSE(layout_at(code, 21));
}

TEST_CASE("what cannot be followed is declined, until a frame pointer says where things are") {
  // and $-64,%rsp; nop
  CHECK_FALSE(layout_at({0x48, 0x83, 0xe4, 0xc0, 0x90}, 4));
  // sub %rax,%rsp; nop
  CHECK_FALSE(layout_at({0x48, 0x29, 0xc4, 0x90}, 3));
  // mov (%rdi),%rsp; nop
  CHECK_FALSE(layout_at({0x48, 0x8b, 0x27, 0x90}, 3));
  // push %rbp; mov %rsp,%rbp; sub %rax,%rsp; leave; ret
  Code with_pointer = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0xc9, 0xc3};
  CHECK(layout_at(with_pointer, 7)->base == Register::rbp);
  CHECK(layout_at(with_pointer, 8)->base == Register::rsp);
  CHECK(layout_at(with_pointer, 8)->cfa_offset == 8);
  // No instruction; one cut off.
  CHECK_FALSE(layout_at({0x06, 0x90}, 1));
  CHECK_FALSE(layout_at({0xe8, 0, 0}, 0));
  // A register that is given back as something else: xor %ebx,%ebx; nop
  CHECK(layout_at({0x31, 0xdb, 0x90}, 2)->of(Register::rbx).kind == Saved::Kind::kLost);
}

TEST_CASE("the return address is found in the register that it was popped into") {
  // pop %rcx; add $8,%rsp; push %rcx; ret
  Code code = {0x59, 0x48, 0x83, 0xc4, 0x08, 0x51, 0xc3};
  CHECK(layout_at(code, 1)->return_register == Register::rcx);
  CHECK(layout_at(code, 5)->return_register == Register::rcx);
  CHECK(layout_at(code, 5)->cfa_offset == 0);
  CHECK_FALSE(layout_at(code, 6)->return_register);
  CHECK(layout_at(code, 6)->cfa_offset == 8);
}

TEST_CASE("code behind a jump has the state of who jumps there; a guess says that it is one") {
  // test %edi,%edi; jne +6; sub $8,%rsp; ud2; (6:) ret
  Code forward = {0x85, 0xff, 0x75, 0x06, 0x48, 0x83, 0xec, 0x08, 0x0f, 0x0b, 0xc3};
  CHECK(layout_at(forward, 8)->cfa_offset == 16);
  CHECK(layout_at(forward, 10)->cfa_offset == 8);
  CHECK_FALSE(layout_at(forward, 10)->is_guess);
  // jmp 2f; 1: nop; ret; 2: sub $8,%rsp; add $8,%rsp; jmp 1b
  Code backward = {0xeb, 0x02, 0x90, 0xc3, 0x48, 0x83, 0xec, 0x08, 0x48, 0x83, 0xc4, 0x08, 0xeb, 0xf4};
  CHECK(layout_at(backward, 2)->cfa_offset == 8);
  CHECK_FALSE(layout_at(backward, 2)->is_guess);
  // push %rbx; pop %rbx; ret; nop
  Code behind = {0x53, 0x5b, 0xc3, 0x90};
  CHECK(layout_at(behind, 3)->cfa_offset == 16);
  CHECK(layout_at(behind, 3)->is_guess);
}

TEST_CASE("hostile code is bounded") {
  // Jumps forward without end, each with another state.
  Code code;
  while (code.size() < (80u << 10)) code.insert(code.end(), {0x50, 0x0f, 0x84, 0xff, 0x7f, 0, 0});
  CHECK(layout_at(code, 7 * 9000)->cfa_offset == 8 + 8 * 9000);
  CHECK_FALSE(layout_at(code, 7 * 10000));
  for (size_t i = 0; i < code.size(); ++i) code[i] = static_cast<uint8_t>(i * 167 + (i >> 7));
  for (uint64_t offset = 0; offset < code.size(); offset += 997) (void)layout_at(code, offset);
}

TEST_CASE("layouts equal the compiler's CFI") {
  TempDir folder;
  for (std::string compiler : {"gcc", "clang-16"}) {
    for (std::string level : {"-O0", "-O1", "-O2", "-O3", "-Os"}) {
      std::string object = folder.file("scenarios");
      tests::compile(compiler, {level, "-pthread"}, {"traps/scenarios.c"}, object);
      Share share = compare_file(object);
      INFO(compiler << " " << level << ": " << share.equal << " of " << share.asked << " equal, "
                    << share.declined << " declined, " << share.wrong << " wrong");
      CHECK(share.asked > 300);
      CHECK(share.wrong == 0);
      CHECK(share.equal * 100 >= share.asked * 95);
    }
  }
  // setcontext and swapcontext load the registers of another stack: their rows are about that.
  Share libc = compare_file("/lib/x86_64-linux-gnu/libc.so.6");
  INFO(libc.equal << " of " << libc.asked << " equal, " << libc.declined << " declined, " << libc.wrong
                  << " wrong");
  CHECK(libc.asked > 30'000);
  CHECK(libc.wrong * 1000 <= libc.asked);
  CHECK(libc.equal * 100 >= libc.asked * 99);
}

}  // namespace jitprof
