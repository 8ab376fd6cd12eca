// SPDX-License-Identifier: Apache-2.0
// Entries of frame sections made by hand: their headers, pointers and places.
#include "tests/catch.h"
#include "tests/unwind/frame_section_builder.h"
#include "unwind/cfi/rule_text.h"
#include "unwind/cfi/unwind_table.h"

namespace jitprof {
namespace {

using tests::CfiBytes;
using tests::FrameSectionBuilder;

constexpr uint64_t kCode = 0x4000;
constexpr uint64_t kSize = 0x100;
const std::string kPlain = "cfa=rsp+8 rip=[cfa-8]";

UnwindTable compile(const std::vector<FrameSection>& sections) { return UnwindTable::compile(sections); }
UnwindTable compile(const FrameSectionBuilder& builder) { return compile({builder.section()}); }

std::string rule_at(const UnwindTable& table, uint64_t position) {
  const UnwindRule* rule = table.find({position});
  return rule == nullptr ? "none" : to_text(*rule);
}

CfiBytes cfa_offset(int offset) { return {DW_CFA_def_cfa_offset, offset}; }
std::string with_cfa_offset(int offset) { return "cfa=rsp+" + std::to_string(offset) + " rip=[cfa-8]"; }

// Whether a function under that CIE is found where it is.
bool is_readable(const FrameSectionBuilder::CieParts& parts, bool is_debug_frame = false) {
  FrameSectionBuilder builder(is_debug_frame);
  CfiBytes pointers = CfiBytes().u64(kCode).u64(kSize);
  if (parts.augmentation.starts_with('z')) pointers.u8(0);
  builder.add_fde(builder.add_cie(parts), pointers, {}, parts.is_long);
  UnwindTable table = compile(builder);
  bool is_found = table.find({kCode}) != nullptr && table.find({kCode + kSize - 1}) != nullptr &&
                  table.find({kCode + kSize}) == nullptr;
  CHECK(table.unreadable() == (is_found ? 0 : 1));
  return is_found;
}

// The place of an FDE's first pointer.
uint64_t pointer_place(const FrameSectionBuilder& builder) {
  return FrameSectionBuilder::kStart + builder.size() + 8;
}

// The table of one function under a CIE of that encoding.
UnwindTable encoded(uint8_t encoding, const CfiBytes& pointers, std::optional<ElfAddr> text = std::nullopt,
                    std::optional<ElfAddr> data = std::nullopt) {
  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie({.augmentation = "zR", .augmentation_data = CfiBytes().u8(encoding)});
  builder.add_fde(cie, CfiBytes(pointers).u8(0), {});
  FrameSection section = builder.section();
  section.text_base = text;
  section.data_base = data;
  return compile({section});
}

}  // namespace

TEST_CASE("versions of CIEs") {
  CHECK(is_readable({.version = 1}));
  CHECK(is_readable({.version = 3}));
  CHECK(is_readable({.version = 1}, true));
  CHECK(is_readable({.version = 3}, true));
  CHECK(is_readable({.version = 4, .behind_augmentation = {8, 0}}, true));
  CHECK(is_readable({.is_long = true}));
  CHECK(is_readable({.is_long = true}, true));
  CHECK_FALSE(is_readable({.version = 2}));
  CHECK_FALSE(is_readable({.version = 5}));
  CHECK_FALSE(is_readable({.version = 4, .behind_augmentation = {2, 0}}, true));
  CHECK_FALSE(is_readable({.version = 4, .behind_augmentation = {8, 2}}, true));
  // A return address in another column is another architecture's.
  CHECK_FALSE(is_readable({.return_column = 30}));
  CHECK_FALSE(is_readable({.program = {0x3f}}));
}

TEST_CASE("augmentations of CIEs") {
  CHECK(is_readable({.augmentation = "eh", .behind_augmentation = CfiBytes().u64(5)}));
  CHECK(is_readable({.augmentation = "z"}));
  CHECK(is_readable({.augmentation = "zPLR",
                     .augmentation_data = CfiBytes()
                                              .u8(DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4)
                                              .u32(1)
                                              .u8(DW_EH_PE_omit)
                                              .u8(DW_EH_PE_absptr)}));
  CHECK(is_readable({.augmentation = "zRB", .augmentation_data = {DW_EH_PE_absptr}}));
  // The size tells where what is not known ends.
  CHECK(is_readable({.augmentation = "zRQ", .augmentation_data = {DW_EH_PE_absptr, 1, 2, 3}}));
  CHECK(is_readable({.augmentation = "zQR", .augmentation_data = {1, 2, 3}}));
  CHECK_FALSE(is_readable({.augmentation = "Q"}));
  CHECK_FALSE(is_readable({.augmentation = "armcc+"}));
  CHECK_FALSE(is_readable({.augmentation = "zR", .augmentation_data = {}, .program = {}}));

  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie({.augmentation = "zRS", .augmentation_data = {DW_EH_PE_absptr}});
  builder.add_fde(cie, CfiBytes().u64(kCode).u64(kSize).u8(0), {});
  CHECK(compile(builder).find({kCode})->is_signal_frame);
}

TEST_CASE("pointers of four bytes in .debug_frame version 4") {
  FrameSectionBuilder builder(true);
  uint64_t cie = builder.add_cie({.version = 4, .behind_augmentation = {4, 0}});
  builder.add_fde(cie, CfiBytes().u32(kCode).u32(kSize), {});
  CHECK(rule_at(compile(builder), kCode) == kPlain);
  CHECK(rule_at(compile(builder), kCode + kSize) == "none");
}

TEST_CASE("pointer encodings") {
  auto is_found = [](const UnwindTable& table) {
    return table.find({kCode}) != nullptr && table.find({kCode - 1}) == nullptr &&
           table.find({kCode + kSize - 1}) != nullptr && table.find({kCode + kSize}) == nullptr;
  };
  CHECK(is_found(encoded(DW_EH_PE_absptr, CfiBytes().u64(kCode).u64(kSize))));
  CHECK(is_found(encoded(DW_EH_PE_udata2, CfiBytes().u16(kCode).u16(kSize))));
  CHECK(is_found(encoded(DW_EH_PE_udata4, CfiBytes().u32(kCode).u32(kSize))));
  CHECK(is_found(encoded(DW_EH_PE_sdata4, CfiBytes().u32(kCode).u32(kSize))));
  CHECK(is_found(encoded(DW_EH_PE_udata8, CfiBytes().u64(kCode).u64(kSize))));
  CHECK(is_found(encoded(DW_EH_PE_sdata8, CfiBytes().u64(kCode).u64(kSize))));
  CHECK(is_found(encoded(DW_EH_PE_uleb128, CfiBytes().uleb(kCode).uleb(kSize))));
  CHECK(is_found(encoded(DW_EH_PE_sleb128, CfiBytes().sleb(kCode).uleb(kSize))));

  FrameSectionBuilder measure;
  measure.add_cie({.augmentation = "zR", .augmentation_data = {0}});
  uint64_t from_here = kCode - pointer_place(measure);
  for (auto [format, size] : {std::pair{DW_EH_PE_sdata4, 4}, {DW_EH_PE_sdata8, 8}, {DW_EH_PE_absptr, 8}}) {
    CHECK(is_found(encoded(DW_EH_PE_pcrel | format, CfiBytes().number(from_here, size).number(kSize, size))));
  }
  CfiBytes backwards = CfiBytes().u32(static_cast<uint32_t>(-0x10)).u32(kSize);
  CHECK(is_found(encoded(DW_EH_PE_datarel | DW_EH_PE_sdata4, backwards, {}, ElfAddr{kCode + 0x10})));
  CHECK(is_found(encoded(DW_EH_PE_textrel | DW_EH_PE_sdata4, backwards, ElfAddr{kCode + 0x10})));
  CfiBytes aligned;
  while ((pointer_place(measure) + aligned.size()) % 8 != 0) aligned.u8(0xff);
  CHECK(is_found(encoded(DW_EH_PE_aligned, CfiBytes(aligned).u64(kCode).u64(kSize))));

  // What the section alone does not tell.
  for (int encoding :
       {DW_EH_PE_datarel | DW_EH_PE_sdata4, DW_EH_PE_textrel | DW_EH_PE_sdata4,
        DW_EH_PE_funcrel | DW_EH_PE_sdata4, DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4,
        int{DW_EH_PE_omit}, 0x05, 0x0f}) {
    UnwindTable table = encoded(static_cast<uint8_t>(encoding), CfiBytes().u32(kCode).u32(kSize));
    CHECK(table.row_count() == 0);
    CHECK(table.unreadable() == 1);
  }
}

TEST_CASE("a section ends at a zero length only if its size is unknown") {
  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie();
  builder.add_fde(cie, kCode, kSize);
  builder.add_bytes({0, 0, 0, 0});
  builder.add_fde(cie, kCode + kSize, kSize, cfa_offset(16));
  builder.add_bytes({0, 0, 0, 0, 0, 0});
  FrameSection section = builder.section();
  UnwindTable table = compile({section});
  CHECK(rule_at(table, kCode) == kPlain);
  CHECK(rule_at(table, kCode + kSize) == with_cfa_offset(16));
  CHECK(table.unreadable() == 0);
  section.ends_at_zero = true;
  table = compile({section});
  CHECK(rule_at(table, kCode) == kPlain);
  CHECK(rule_at(table, kCode + kSize) == "none");
  CHECK(table.unreadable() == 0);
}

TEST_CASE("an entry that leads outside the section ends it, and counts") {
  for (const CfiBytes& bad : {CfiBytes().u32(1000).u64(0), CfiBytes().u32(0xffffffff).u64(~uint64_t{0}),
                              CfiBytes().u32(0xffffffff).u32(0)}) {
    FrameSectionBuilder builder;
    builder.add_fde(builder.add_cie(), kCode, kSize);
    builder.add_bytes(bad);
    UnwindTable table = compile(builder);
    CHECK(rule_at(table, kCode) == kPlain);
    CHECK(table.unreadable() == 1);
  }
}

TEST_CASE("FDEs without a CIE count") {
  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie();
  uint64_t fde = builder.add_fde(cie, kCode, kSize);
  builder.add_fde(fde, kCode + 0x1000, kSize);
  builder.add_fde(cie + 4, kCode + 0x2000, kSize);
  builder.add_fde(uint64_t{1} << 31, kCode + 0x3000, kSize);
  UnwindTable table = compile(builder);
  CHECK(rule_at(table, kCode) == kPlain);
  for (uint64_t into : {0x1000, 0x2000, 0x3000}) CHECK(rule_at(table, kCode + into) == "none");
  CHECK(table.unreadable() == 3);
}

TEST_CASE(".debug_frame may have a CIE behind its FDEs, and leaves entries of dropped functions") {
  FrameSectionBuilder measure(true);
  measure.add_fde(0, kCode, kSize);
  measure.add_fde(0, 0, kCode + kSize);
  FrameSectionBuilder builder(true);
  uint64_t cie = measure.size();
  builder.add_fde(cie, kCode, kSize);
  builder.add_fde(cie, 0, kCode + kSize);
  builder.add_cie();
  UnwindTable table = compile(builder);
  CHECK(rule_at(table, kCode) == kPlain);
  CHECK(rule_at(table, 0) == "none");
  CHECK(rule_at(table, kCode - 1) == "none");
  CHECK(table.unreadable() == 0);
}

TEST_CASE(".debug_frame speaks where .eh_frame has nothing to say") {
  FrameSectionBuilder eh, debug(true);
  uint64_t cie = eh.add_cie();
  eh.add_fde(cie, kCode + 0x100, 0x100, cfa_offset(16));
  // A row that says nothing about the CFA.
  eh.add_fde(cie, kCode + 0x300, 0x100, {DW_CFA_advance_loc | 8, DW_CFA_def_cfa, 17, 0});
  debug.add_fde(debug.add_cie(), kCode, 0x1000);
  for (const auto& sections : {std::vector{eh.section(), debug.section()}, {debug.section(), eh.section()}}) {
    UnwindTable table = compile(sections);
    CHECK(rule_at(table, kCode) == kPlain);
    CHECK(rule_at(table, kCode + 0xff) == kPlain);
    CHECK(rule_at(table, kCode + 0x100) == with_cfa_offset(16));
    CHECK(rule_at(table, kCode + 0x1ff) == with_cfa_offset(16));
    CHECK(rule_at(table, kCode + 0x200) == kPlain);
    CHECK(rule_at(table, kCode + 0x308) == kPlain);
    CHECK(rule_at(table, kCode + 0xfff) == kPlain);
    CHECK(rule_at(table, kCode + 0x1000) == "none");
    // Equal neighbours are one row, whichever section they come from.
    CHECK(table.row_count() == 4);
  }
}

TEST_CASE("an FDE ends where the next one starts") {
  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie();
  builder.add_fde(cie, kCode + 0x40, 0x10, cfa_offset(24));
  builder.add_fde(cie, kCode, ~uint64_t{0} - kCode, cfa_offset(16));
  builder.add_fde(cie, kCode + 0x40, 0x20, cfa_offset(32));
  UnwindTable table = compile(builder);
  CHECK(rule_at(table, kCode + 0x3f) == with_cfa_offset(16));
  CHECK(rule_at(table, kCode + 0x40) == with_cfa_offset(24));
  CHECK(rule_at(table, kCode + 0x50) == "none");
}

TEST_CASE("a root is short and overlaps nothing") {
  CfiBytes root = {DW_CFA_undefined, 16};
  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie();
  builder.add_fde(cie, kCode, 0x20, root);
  builder.add_fde(cie, kCode + 0x40, 0x80, root);
  builder.add_fde(cie, kCode + 0x80, 0x10);
  builder.add_fde(cie, kCode + 0x100, 0x2000, root);
  UnwindTable table = compile(builder);
  CHECK(rule_at(table, kCode) == "root");
  CHECK(rule_at(table, kCode + 0x40) == "none");
  CHECK(rule_at(table, kCode + 0x80) == kPlain);
  CHECK(rule_at(table, kCode + 0x100) == "none");
  CHECK(table.unreadable() == 2);
}

TEST_CASE("FDEs 4 GiB away from the most are left out, and count") {
  for (uint64_t away : {uint64_t{0}, uint64_t{1} << 62}) {
    uint64_t code = uint64_t{1} << 40;
    FrameSectionBuilder builder;
    uint64_t cie = builder.add_cie();
    builder.add_fde(cie, away, kSize);
    builder.add_fde(cie, code, kSize);
    builder.add_fde(cie, code + 0xffff'0000, uint64_t{1} << 33, cfa_offset(16));
    UnwindTable table = compile(builder);
    CHECK(rule_at(table, away) == "none");
    CHECK(rule_at(table, code) == kPlain);
    CHECK(rule_at(table, code + 0xffff'fffe) == with_cfa_offset(16));
    CHECK(rule_at(table, code + 0xffff'ffff) == "none");
    CHECK(table.unreadable() == 2);             // and the one whose end is out of reach
    CHECK(table.bytes() < (256 << 10) + 2000);  // a page of code is 64 KiB at most
  }
}

TEST_CASE("more rules than have numbers are left out, and count") {
  FrameSectionBuilder builder;
  uint64_t cie = builder.add_cie();
  constexpr uint64_t kFunctions = 65'540;
  for (uint64_t i = 0; i < kFunctions; ++i) {
    builder.add_fde(cie, kCode + 16 * i, 16, CfiBytes{DW_CFA_def_cfa_offset}.uleb(8 * i));
  }
  UnwindTable table = compile(builder);
  CHECK(table.rule_count() == 65'535);
  CHECK(rule_at(table, kCode + 16 * 65'534) == "cfa=rsp+524272 rip=[cfa-8]");
  CHECK(rule_at(table, kCode + 16 * 65'535) == "none");
  CHECK(table.unreadable() == kFunctions - 65'535);
}

TEST_CASE("a table without sections covers nothing") {
  for (const UnwindTable& table :
       {UnwindTable(), compile(std::vector<FrameSection>()), compile({FrameSection{}})}) {
    CHECK(table.find({0}) == nullptr);
    CHECK(table.find({kCode}) == nullptr);
    CHECK(table.row_count() == 0);
    CHECK(table.unreadable() == 0);
  }
}

}  // namespace jitprof
