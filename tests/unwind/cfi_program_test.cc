// SPDX-License-Identifier: Apache-2.0
// Each call frame instruction, in sections made by hand.
#include "tests/catch.h"
#include "tests/unwind/frame_section_builder.h"
#include "unwind/cfi/rule_text.h"
#include "unwind/cfi/unwind_table.h"

namespace jitprof {
namespace {

using tests::CfiBytes;
using tests::FrameSectionBuilder;
using Kind = RegisterRule::Kind;

constexpr uint64_t kCode = 0x4000;
constexpr uint64_t kSize = 0x100'0000;

UnwindTable compile(const FrameSectionBuilder& builder) {
  FrameSection section = builder.section();
  return UnwindTable::compile(std::span(&section, 1));
}

// One function whose CIE says: CFA = rsp+8, return address at CFA-8.
UnwindTable function(const CfiBytes& program, uint64_t size = kSize) {
  FrameSectionBuilder builder;
  builder.add_fde(builder.add_cie(), kCode, size, program);
  return compile(builder);
}

std::string rule_at(const UnwindTable& table, uint64_t into) {
  const UnwindRule* rule = table.find({kCode + into});
  return rule == nullptr ? "none" : to_text(*rule);
}

std::string first_rule(const CfiBytes& program) { return rule_at(function(program), 0); }

CfiBytes with_block(std::initializer_list<int> front, const CfiBytes& expression) {
  return CfiBytes(front).block(expression);
}

constexpr int kRbx = 3, kRdi = 5, kRbp = 6, kRsp = 7, kR12 = 12, kRip = 16;
const CfiBytes kMinusTwo = CfiBytes().sleb(-2);

}  // namespace

TEST_CASE("CFA instructions") {
  CHECK(first_rule({}) == "cfa=rsp+8 rip=[cfa-8]");
  CHECK(first_rule({DW_CFA_nop, DW_CFA_GNU_args_size, 64}) == "cfa=rsp+8 rip=[cfa-8]");
  CHECK(first_rule({DW_CFA_def_cfa, kRbp, 16}) == "cfa=rbp+16 rip=[cfa-8]");
  CHECK(first_rule(CfiBytes{DW_CFA_def_cfa_sf, kRbp}.sleb(-4)) == "cfa=rbp+32 rip=[cfa-8]");
  CHECK(first_rule({DW_CFA_def_cfa_register, kRbx}) == "cfa=rbx+8 rip=[cfa-8]");
  CHECK(first_rule(CfiBytes{DW_CFA_def_cfa_offset}.uleb(400)) == "cfa=rsp+400 rip=[cfa-8]");
  CHECK(first_rule(CfiBytes{DW_CFA_def_cfa_offset_sf}.sleb(-3)) == "cfa=rsp+24 rip=[cfa-8]");
  CHECK(first_rule(with_block({DW_CFA_def_cfa_expression}, {DW_OP_breg7, 8, DW_OP_deref})) ==
        "cfa=expression rip=[cfa-8]");
  // An expression that only adds to a register is the same as saying so.
  CHECK(first_rule(with_block({DW_CFA_def_cfa_expression}, {DW_OP_breg6, 24})) == "cfa=rbp+24 rip=[cfa-8]");
  CHECK(first_rule(with_block({DW_CFA_def_cfa_expression}, {DW_OP_bregx, kRbp, 24})) ==
        "cfa=rbp+24 rip=[cfa-8]");
}

TEST_CASE("register instructions") {
  auto rbp_is = [](const std::string& text) { return "cfa=rsp+8 rbp=" + text + " rip=[cfa-8]"; };
  CHECK(first_rule({DW_CFA_offset | kRbp, 2}) == rbp_is("[cfa-16]"));
  CHECK(first_rule({DW_CFA_offset_extended, kRbp, 2}) == rbp_is("[cfa-16]"));
  CHECK(first_rule(CfiBytes{DW_CFA_offset_extended_sf, kRbp}.append(kMinusTwo)) == rbp_is("[cfa+16]"));
  CHECK(first_rule({DW_CFA_GNU_negative_offset_extended, kRbp, 2}) == rbp_is("[cfa+16]"));
  CHECK(first_rule({DW_CFA_val_offset, kRbp, 2}) == rbp_is("cfa-16"));
  CHECK(first_rule(CfiBytes{DW_CFA_val_offset_sf, kRbp}.append(kMinusTwo)) == rbp_is("cfa+16"));
  CHECK(first_rule({DW_CFA_register, kRbp, kR12}) == rbp_is("r12"));
  CHECK(first_rule(with_block({DW_CFA_expression, kRbp}, {DW_OP_breg7, 8})) == rbp_is("[expression]"));
  CHECK(first_rule(with_block({DW_CFA_val_expression, kRbp}, {DW_OP_breg7, 8})) == rbp_is("expression"));
  // The CFA is on the stack of a register's expression.
  CHECK(first_rule(with_block({DW_CFA_expression, kRbp}, {DW_OP_plus_uconst, 8})) == rbp_is("[cfa+8]"));
  CHECK(first_rule(with_block({DW_CFA_val_expression, kRbp}, {})) == rbp_is("cfa"));

  CHECK(first_rule({DW_CFA_register, kRip, kRdi}) == "cfa=rsp+8 rip=rdi");
  CHECK(rule_at(function({DW_CFA_undefined, kRip}, 0x20), 0) == "root");

  UnwindTable table = function({DW_CFA_undefined, kRbx, DW_CFA_same_value, 0});
  CHECK(table.find({kCode})->of(Register::rbx).kind == Kind::kUndefined);
  CHECK(table.find({kCode})->of(Register::rax).kind == Kind::kSameValue);
  CHECK(table.find({kCode})->of(Register::rdx).kind == Kind::kUndefined);
  CHECK(table.find({kCode})->of(Register::rsp) ==
        RegisterRule{.number = Register::rsp, .kind = Kind::kCfaOffset});
  // Registers that are not followed.
  CHECK(first_rule({DW_CFA_offset | 17, 4, DW_CFA_undefined, 40, DW_CFA_restore | 17}) ==
        "cfa=rsp+8 rip=[cfa-8]");
}

TEST_CASE("a restored register has the CIE's rule, a restored state everything that was remembered") {
  CHECK(first_rule({DW_CFA_undefined, kRip, DW_CFA_restore | kRip}) == "cfa=rsp+8 rip=[cfa-8]");
  CHECK(first_rule({DW_CFA_offset | kRbp, 2, DW_CFA_restore_extended, kRbp}) == "cfa=rsp+8 rip=[cfa-8]");
  UnwindTable table = function({DW_CFA_def_cfa_offset, 16,                           //
                                DW_CFA_remember_state,                               //
                                DW_CFA_def_cfa_offset, 32, DW_CFA_offset | kRbp, 2,  //
                                DW_CFA_remember_state, DW_CFA_def_cfa, kRbp, 64,     //
                                DW_CFA_advance_loc | 1, DW_CFA_restore_state,        //
                                DW_CFA_advance_loc | 1, DW_CFA_restore_state});
  CHECK(rule_at(table, 0) == "cfa=rbp+64 rbp=[cfa-16] rip=[cfa-8]");
  CHECK(rule_at(table, 1) == "cfa=rsp+32 rbp=[cfa-16] rip=[cfa-8]");
  CHECK(rule_at(table, 2) == "cfa=rsp+16 rip=[cfa-8]");
  CHECK(table.unreadable() == 0);
}

TEST_CASE("every advance starts a row") {
  CfiBytes program = {DW_CFA_advance_loc | 63, DW_CFA_def_cfa_offset, 16};
  program.append(CfiBytes{DW_CFA_advance_loc1, 200, DW_CFA_def_cfa_offset, 24});
  program.u8(DW_CFA_advance_loc2).u16(1000).append({DW_CFA_def_cfa_offset, 32});
  program.u8(DW_CFA_advance_loc4).u32(100'000).append({DW_CFA_def_cfa_offset, 40});
  program.u8(DW_CFA_MIPS_advance_loc8).u64(200'000).append({DW_CFA_def_cfa_offset, 48});
  program.u8(DW_CFA_set_loc).u64(kCode + 400'000).append({DW_CFA_def_cfa_offset, 56});
  // Advances by nothing and rows that change nothing are no rows.
  program.append({DW_CFA_advance_loc, DW_CFA_advance_loc | 1, DW_CFA_nop});
  UnwindTable table = function(program);
  CHECK(table.unreadable() == 0);
  CHECK(table.row_count() == 8);
  const uint64_t starts[] = {0, 63, 263, 1263, 101'263, 301'263, 400'000, kSize};
  for (unsigned i = 0; i < 7; ++i) {
    std::string expected = "cfa=rsp+" + std::to_string(8 * (i + 1)) + " rip=[cfa-8]";
    CHECK(rule_at(table, starts[i]) == expected);
    CHECK(rule_at(table, starts[i + 1] - 1) == expected);
  }
  CHECK(rule_at(table, kSize) == "none");
  CHECK(table.find({kCode - 1}) == nullptr);
  CHECK(table.find({0}) == nullptr);
  CHECK(table.find({~uint64_t{0}}) == nullptr);
}

TEST_CASE("advances are multiples of the CIE's code alignment") {
  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie({.code_alignment = 4});
  builder.add_fde(cie, kCode, kSize, {DW_CFA_advance_loc | 3, DW_CFA_def_cfa_offset, 16});
  UnwindTable table = compile(builder);
  CHECK(rule_at(table, 11) == "cfa=rsp+8 rip=[cfa-8]");
  CHECK(rule_at(table, 12) == "cfa=rsp+16 rip=[cfa-8]");
}

TEST_CASE("a program that goes on behind its code ends with it") {
  FrameSectionBuilder builder;
  builder.add_fde(builder.add_cie(), kCode, 16,
                  {DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 9,
                   DW_CFA_undefined, 16, 0x3f});
  UnwindTable table = compile(builder);
  CHECK(rule_at(table, 15) == "cfa=rsp+16 rip=[cfa-8]");
  CHECK(rule_at(table, 16) == "none");
  CHECK(table.unreadable() == 0);
}

TEST_CASE("what cannot be expressed is undefined; of the CFA or the return address it makes the row a gap") {
  CfiBytes unknown = {DW_OP_addr, 0, 0, 0, 0, 0, 0, 0, 0};
  UnwindTable table = function(with_block({DW_CFA_expression, kRbp}, unknown));
  CHECK(table.find({kCode})->of(Register::rbp).kind == Kind::kUndefined);
  table = function(CfiBytes{DW_CFA_offset | kRbp}.uleb(uint64_t{1} << 40));
  CHECK(table.find({kCode})->of(Register::rbp).kind == Kind::kUndefined);
  table = function({DW_CFA_register, kRbp, 17});
  CHECK(table.find({kCode})->of(Register::rbp).kind == Kind::kUndefined);

  CHECK(first_rule(with_block({DW_CFA_expression, kRip}, unknown)) == "none");
  CHECK(first_rule({DW_CFA_register, kRip, 17}) == "none");
  CHECK(first_rule(with_block({DW_CFA_def_cfa_expression}, unknown)) == "none");
  CHECK(first_rule(with_block({DW_CFA_def_cfa_expression}, {})) == "none");
  CHECK(first_rule({DW_CFA_def_cfa, 17, 8}) == "none");
  CHECK(first_rule(CfiBytes{DW_CFA_def_cfa_offset}.uleb(uint64_t{1} << 31)) == "none");
  // Only until a later row says better.
  table = function({DW_CFA_def_cfa, 17, 8, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, kRsp, 8});
  CHECK(rule_at(table, 0) == "none");
  CHECK(rule_at(table, 1) == "cfa=rsp+8 rip=[cfa-8]");
  CHECK(table.unreadable() == 0);

  FrameSectionBuilder builder;
  builder.add_fde(builder.add_cie({.program = {}}), kCode, kSize);
  builder.add_fde(builder.add_cie({.program = {DW_CFA_def_cfa, kRsp, 8}}), kCode + kSize, kSize);
  builder.add_fde(builder.add_cie(), kCode + 2 * kSize, kSize, {DW_CFA_same_value, kRip});
  UnwindTable silent = compile(builder);
  for (uint64_t into : {uint64_t{0}, kSize, 2 * kSize}) CHECK(rule_at(silent, into) == "none");
  CHECK(silent.unreadable() == 0);
}

TEST_CASE("operands of expressions are decoded, wrong ones are not") {
  auto is_readable = [](const CfiBytes& expression) {
    return first_rule(with_block({DW_CFA_def_cfa_expression}, expression)) != "none";
  };
  auto with_operand = [](uint8_t op, unsigned size) { return CfiBytes().u8(op).number(5, size); };
  for (auto [op, size] : {std::pair{DW_OP_const1u, 1},
                          {DW_OP_const1s, 1},
                          {DW_OP_const2u, 2},
                          {DW_OP_const2s, 2},
                          {DW_OP_const4u, 4},
                          {DW_OP_const4s, 4},
                          {DW_OP_const8u, 8},
                          {DW_OP_const8s, 8},
                          {DW_OP_constu, 1},
                          {DW_OP_consts, 1},
                          {DW_OP_pick, 1},
                          {DW_OP_deref_size, 1},
                          {DW_OP_plus_uconst, 1},
                          {DW_OP_lit5, 0},
                          {DW_OP_deref, 0},
                          {DW_OP_nop, 0}}) {
    INFO("DW_OP " << std::hex << op);
    CHECK(is_readable(with_operand(op, size)));
    if (size != 0) CHECK_FALSE(is_readable(with_operand(op, size - 1)));
  }
  for (int op :
       {int{DW_OP_addr}, int{DW_OP_reg0}, int{DW_OP_fbreg}, int{DW_OP_call2}, int{DW_OP_xderef}, 0, 0xff}) {
    CHECK_FALSE(is_readable({op, 0, 0, 0, 0, 0, 0, 0, 0}));
  }
  CHECK_FALSE(is_readable({DW_OP_breg31, 0}));
  CHECK_FALSE(is_readable({DW_OP_bregx, 17, 0}));

  CHECK(is_readable({DW_OP_lit1, DW_OP_skip, 1, 0, DW_OP_lit2, DW_OP_nop}));
  CHECK(is_readable({DW_OP_lit1, DW_OP_bra, 0xfc, 0xff}));  // to the beginning
  CHECK(is_readable({DW_OP_lit1, DW_OP_skip, 0, 0}));       // to the end
  CHECK_FALSE(is_readable({DW_OP_lit1, DW_OP_skip, 1, 0}));
  CHECK_FALSE(is_readable({DW_OP_lit1, DW_OP_skip, 0xfb, 0xff}));
  CHECK_FALSE(is_readable({DW_OP_skip, 1, 0, DW_OP_const2u, 0, 0}));  // into a step

  CfiBytes longest;
  for (int i = 0; i < 256; ++i) longest.u8(DW_OP_nop);
  CHECK(is_readable(longest));
  CHECK_FALSE(is_readable(longest.u8(DW_OP_nop)));
}

TEST_CASE("rows before damage stand, those behind it are a gap") {
  std::vector<CfiBytes> damages = {
      {0x3f},                          // no such instruction
      {DW_CFA_GNU_window_save},        // SPARC's
      {DW_CFA_restore_state},          // of nothing
      {DW_CFA_def_cfa},                // cut off
      {DW_CFA_advance_loc4, 1, 0, 0},  //
      {DW_CFA_expression, kRbp, 9},    // longer than the entry
      CfiBytes{DW_CFA_set_loc}.u64(kCode),
      with_block({DW_CFA_def_cfa_expression}, {DW_OP_breg7, 0, DW_OP_deref})
          .append({DW_CFA_def_cfa_offset, 8}),  // of a CFA that has no offset
  };
  CfiBytes deep;
  for (int i = 0; i < 257; ++i) deep.u8(DW_CFA_remember_state);
  damages.push_back(deep);
  for (const CfiBytes& damage : damages) {
    CfiBytes program = {DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 4};
    UnwindTable table = function(program.append(damage));
    INFO("damage " << &damage - damages.data());
    CHECK(rule_at(table, 3) == "cfa=rsp+8 rip=[cfa-8]");
    CHECK(rule_at(table, 7) == "cfa=rsp+16 rip=[cfa-8]");
    CHECK(rule_at(table, 8) == "none");
    CHECK(rule_at(table, kSize - 1) == "none");
    CHECK(table.unreadable() == 1);
  }
}

}  // namespace jitprof
