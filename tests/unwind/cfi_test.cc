// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "unwind/cfi/expression.h"
#include "unwind/cfi/step.h"
#include "unwind/cfi/table_cache.h"
#include "unwind/cfi/unwind_table.h"

namespace jitprof {
namespace {

using tests::TempDir;
using Kind = RegisterRule::Kind;

constexpr const char* kLibc = "/lib/x86_64-linux-gnu/libc.so.6";

// Three words from 0x1000 on; 64 bytes were asked for unless a test says otherwise.
struct SmallStack {
  explicit SmallStack(uint64_t asked = 64) {
    sample.stack[0] = {.start = {0x1000}, .bytes = std::as_bytes(std::span(words)), .asked = asked};
    sample.stack_count = 1;
  }
  std::array<uint64_t, 3> words = {0x1122334455667788, 0x2000, 0x3000};
  Sample sample;
};

using Steps = std::vector<ExpressionOp>;

Recovered run(const Steps& expression, std::optional<uint64_t> cfa = std::nullopt) {
  SmallStack stack;
  Registers registers;
  registers.set(Register::rsp, 0x1000);
  registers.set(Register::rip, 0x40100b);
  return evaluate(expression, registers, StackMemory(stack.sample), cfa);
}

ExpressionOp lit(unsigned value) { return {.op = static_cast<uint8_t>(DW_OP_lit0 + value)}; }
ExpressionOp op(uint8_t code, uint64_t operand = 0) { return {code, operand}; }
ExpressionOp breg(Register number, int64_t offset) {
  return op(DW_OP_breg0 + static_cast<uint8_t>(number), static_cast<uint64_t>(offset));
}

ElfFile open_elf(const std::string& path) {
  auto elf = ElfFile::open(path);
  REQUIRE(elf.ok());
  return std::move(elf.value());
}

ElfSymbol symbol(const ElfFile& elf, std::string_view name) {
  for (const ElfSymbol& symbol : elf.code_symbols()) {
    if (symbol.name.substr(0, symbol.name.find('@')) == name) return symbol;
  }
  FAIL("no symbol " << name);
  return {};
}

// What readelf prints for the CFA, rbp and the return address of one row.
struct ReadelfRow {
  std::string cfa, rbp = "u", ra;
};

// The rows of all FDEs by the position where they begin.
std::map<uint64_t, ReadelfRow> readelf_rows(const std::string& path) {
  std::istringstream lines(tests::run_program({"readelf", "--debug-dump=frames-interp", path}).out);
  std::map<uint64_t, ReadelfRow> rows;
  std::vector<std::string> columns;
  uint64_t fde_end = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word);
    if (line.find(" CIE ") != std::string::npos) fde_end = 0;
    if (size_t range = line.find("..");
        line.find(" FDE ") != std::string::npos && range != std::string::npos) {
      fde_end = std::stoull(line.substr(range + 2), nullptr, 16);
    } else if (!fields.empty() && fields[0] == "LOC") {
      columns = fields;
    } else if (fde_end != 0 && fields.size() == columns.size() && !fields.empty() && fields[0].size() == 16) {
      uint64_t start = std::stoull(fields[0], nullptr, 16);
      if (start >= fde_end) continue;
      ReadelfRow row;
      for (size_t i = 1; i < fields.size(); ++i) {
        if (columns[i] == "CFA") row.cfa = fields[i];
        if (columns[i] == "rbp") row.rbp = fields[i];
        if (columns[i] == "ra") row.ra = fields[i];
      }
      rows[start] = row;
    }
  }
  return rows;
}

std::string with_sign(const std::string& name, int64_t offset) {
  return name + (offset < 0 ? "" : "+") + std::to_string(offset);
}

std::string as_readelf(const RegisterRule& rule) {
  switch (rule.kind) {
    case Kind::kUndefined:
    case Kind::kSameValue:
      return "u";
    case Kind::kAtCfaOffset:
      return with_sign("c", rule.offset);
    case Kind::kCfaOffset:
      return with_sign("v", rule.offset);
    case Kind::kInRegister:
      return name_of(rule.other);
    case Kind::kAtExpression:
      return "exp";
    case Kind::kExpression:
      return "vexp";
  }
  return "";
}

std::string as_readelf(const UnwindRule& rule) {
  if (rule.cfa == UnwindRule::Cfa::kExpression) return "exp";
  return with_sign(name_of(rule.cfa_register), rule.cfa_offset);
}

}  // namespace

TEST_CASE("a register that CFI does not mention is the caller's if the ABI says callee-saved, else gone") {
  TempDir folder;
  std::string source = folder.write("leaf.c", "int leaf(int x) { return x + 1; }\n");
  tests::compile("gcc", {"-O2", "-shared", "-fPIC"}, {source}, folder.file("leaf.so"));
  Module module{.id = {0}, .elf = open_elf(folder.file("leaf.so"))};
  UnwindTables tables;
  const UnwindRule* rule = tables.of(module).find(symbol(*module.elf, "leaf").start);
  REQUIRE(rule != nullptr);
  for (Register number : {Register::rbx, Register::rbp, Register::r12, Register::r15}) {
    INFO(name_of(number));
    CHECK(rule->of(number).kind == Kind::kSameValue);
  }
  for (Register number : {Register::rax, Register::rdx, Register::rdi, Register::r11}) {
    INFO(name_of(number));
    CHECK(rule->of(number).kind == Kind::kUndefined);
  }
}

TEST_CASE("stack reads tell a cut copy from memory that ended") {
  SmallStack ended, cut(24);
  CHECK(StackMemory(ended.sample).read({0x1008}).value() == 0x2000);
  CHECK(StackMemory(ended.sample).read({0x1004}, 4).value() == 0x11223344);
  for (uint64_t behind : {0x1011, 0x1018, 0x2000}) {
    CHECK(StackMemory(ended.sample).read({behind}).problem() == StopReason::kUnreadable);
    CHECK(StackMemory(cut.sample).read({behind}).problem() == StopReason::kTruncated);
  }
  for (uint64_t elsewhere : {uint64_t{0}, uint64_t{0xfff}, uint64_t{0x7fffffffffff}, ~uint64_t{0}}) {
    CHECK(StackMemory(cut.sample).read({elsewhere}).problem() == StopReason::kUnreadable);
  }
  CHECK(StackMemory(Sample{}).read({0x1000}).problem() == StopReason::kUnreadable);
}

TEST_CASE("expressions: arithmetic, stack, branches") {
  CHECK(run({lit(7), lit(3), op(DW_OP_minus)}).value() == 4);
  CHECK(run({op(DW_OP_const1s, -6), lit(4), op(DW_OP_div)}).value() == static_cast<uint64_t>(-1));
  CHECK(run({op(DW_OP_const1s, -8), lit(1), op(DW_OP_shra)}).value() == static_cast<uint64_t>(-4));
  CHECK(run({op(DW_OP_const1s, -8), op(DW_OP_abs)}).value() == 8);
  CHECK(run({lit(1), op(DW_OP_constu, 64), op(DW_OP_shl)}).value() == 0);
  CHECK(run({op(DW_OP_const1s, -1), lit(1), op(DW_OP_lt)}).value() == 1);
  CHECK(run({lit(1), lit(2), op(DW_OP_swap), op(DW_OP_minus)}).value() == 1);
  CHECK(run({lit(1), lit(2), lit(3), op(DW_OP_rot), op(DW_OP_drop)}).value() == 1);
  CHECK(run({lit(1), lit(2), lit(3), op(DW_OP_pick, 2)}).value() == 1);
  CHECK(run({lit(1), lit(2), op(DW_OP_over), op(DW_OP_plus)}).value() == 3);
  CHECK(run({lit(0), op(DW_OP_bra, 4), lit(5), op(DW_OP_skip, 5), lit(6)}).value() == 5);
  CHECK(run({lit(1), op(DW_OP_bra, 4), lit(5), op(DW_OP_skip, 5), lit(6)}).value() == 6);
  CHECK(run({breg(Register::rsp, 8), op(DW_OP_deref)}).value() == 0x2000);
  CHECK(run({breg(Register::rsp, 0), op(DW_OP_deref_size, 2)}).value() == 0x7788);
  CHECK(run({op(DW_OP_call_frame_cfa), op(DW_OP_plus_uconst, 8)}, 0x40).value() == 0x48);
}

TEST_CASE("expressions that cannot be evaluated end, and say so") {
  Steps endless = {op(DW_OP_skip, 0)};
  Steps overflow = {lit(1), op(DW_OP_dup), op(DW_OP_skip, 1)};
  std::vector<Steps> bad = {
      {},
      {op(DW_OP_plus)},
      {lit(1), lit(0), op(DW_OP_div)},
      {lit(1), lit(0), op(DW_OP_mod)},
      {op(DW_OP_const8u, 1ull << 63), op(DW_OP_const1s, -1), op(DW_OP_div)},
      {op(DW_OP_pick, 5)},
      {breg(Register::rbp, 0)},
      {op(DW_OP_breg0 + 20)},
      {op(DW_OP_call_frame_cfa)},
      {op(DW_OP_addr, 0x1000)},
      {op(0xff)},
      {breg(Register::rsp, -8), op(DW_OP_deref)},
      {breg(Register::rsp, 0), op(DW_OP_deref_size, 3)},
      endless,
      overflow,
  };
  for (const Steps& expression : bad) {
    Recovered result = run(expression);
    REQUIRE_FALSE(result.ok());
    CHECK(result.problem() == StopReason::kUnreadable);
  }
}

TEST_CASE("every row of libc and of a static program is what readelf says") {
  TempDir folder;
  std::string program = folder.file("own_stack");
  tests::compile("gcc", {"-O2", "-static"}, {"own_stack/capture.c", "own_stack/main.c"}, program);
  for (const std::string& path : {std::string(kLibc), program}) {
    ElfFile elf = open_elf(path);
    UnwindTable table = UnwindTable::compile(elf);
    auto rows = readelf_rows(path);
    REQUIRE(rows.size() > 1000);
    unsigned wrong = 0;
    for (const auto& [start, row] : rows) {
      const UnwindRule* rule = table.find({start});
      bool same = rule && as_readelf(*rule) == row.cfa && as_readelf(rule->of(Register::rip)) == row.ra &&
                  as_readelf(rule->of(Register::rbp)) == row.rbp;
      if (!same && wrong++ < 5) {
        UNSCOPED_INFO(path << " " << std::hex << start << " readelf: " << row.cfa << " " << row.rbp << " "
                           << row.ra << " ours: "
                           << (rule ? as_readelf(*rule) + " " + as_readelf(rule->of(Register::rbp)) + " " +
                                          as_readelf(rule->of(Register::rip))
                                    : "none"));
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("rules of the places that only a few functions have") {
  ElfFile libc = open_elf(kLibc);
  UnwindTable table = UnwindTable::compile(libc);

  // vfork:  pop %rdi      the return address waits there,
  //         mov $58,%eax  because parent and child share the stack
  //         syscall
  //         push %rdi
  ElfSymbol vfork = symbol(libc, "vfork");
  bool kept_in_register = false;
  for (uint64_t i = 0; i < vfork.size; ++i) {
    const UnwindRule* rule = table.find(vfork.start.plus(i));
    REQUIRE(rule != nullptr);
    const RegisterRule& how = rule->of(Register::rip);
    kept_in_register |= how.kind == Kind::kInRegister && how.other == Register::rdi;
  }
  CHECK(kept_in_register);

  // clone's child part: nobody called it.
  ElfSymbol clone = symbol(libc, "clone");
  bool has_root = false;
  for (uint64_t i = 0; i < clone.size; ++i) {
    const UnwindRule* rule = table.find(clone.start.plus(i));
    has_root |= rule && rule->is_root();
  }
  CHECK(has_root);

  CHECK_FALSE(table.find({0}));
  CHECK_FALSE(table.find({~uint64_t{0}}));
}

TEST_CASE("the signal trampoline gives every register back from the kernel's frame") {
  ElfFile libc = open_elf(kLibc);
  UnwindTable table = UnwindTable::compile(libc);
  const ElfSection* text = libc.find_section(".text");
  REQUIRE(text != nullptr);
  uint64_t into = 0;
  const UnwindRule* rule = nullptr;
  for (; into < text->size && (rule == nullptr || !rule->is_signal_frame); ++into) {
    rule = table.find(text->start.plus(into));
  }
  REQUIRE(into < text->size);
  // The row begins a byte before the code: mov $SYS_rt_sigreturn,%rax.
  static constexpr std::array<uint8_t, 4> kCode = {0x48, 0xc7, 0xc0, 0x0f};
  Bytes code = libc.bytes_from(text->start.plus(into)).first(kCode.size());
  CHECK(std::ranges::equal(code, std::as_bytes(std::span(kCode))));
  CHECK(rule->cfa == UnwindRule::Cfa::kExpression);
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    RegisterRule how = rule->of(static_cast<Register>(i));
    INFO(name_of(how.number));
    CHECK(how.kind == Kind::kAtExpression);
  }
}

TEST_CASE("a realigned stack's CFA is read from memory") {
  TempDir folder;
  std::string source = folder.write("realigned.c", R"(
    struct __attribute__((aligned(64))) Wide { int values[32]; };
    int use(struct Wide*, void*);
    int realigned(int n) { struct Wide wide = {{n}}; return use(&wide, __builtin_alloca(n)); })");
  tests::compile("gcc", {"-O2", "-shared", "-fPIC"}, {source}, folder.file("realigned.so"));
  ElfFile elf = open_elf(folder.file("realigned.so"));
  UnwindTable table = UnwindTable::compile(elf);
  ElfSymbol function = symbol(elf, "realigned");
  bool has_base = false, has_dereference = false;
  for (uint64_t i = 0; i < function.size; ++i) {
    const UnwindRule* rule = table.find(function.start.plus(i));
    REQUIRE(rule != nullptr);
    bool by_register = rule->cfa == UnwindRule::Cfa::kRegisterOffset;
    has_base |= by_register && rule->cfa_register == Register::r10;
    has_dereference |= !by_register && rule->expressions[rule->cfa_expression].back().op == DW_OP_deref;
  }
  CHECK(has_base);
  CHECK(has_dereference);
}

TEST_CASE("a PLT entry's CFA depends on how far it has run") {
  TempDir folder;
  std::string source =
      folder.write("plt.c", "#include <stdio.h>\nint main(int n, char** v) { return puts(v[n - 1]); }\n");
  tests::compile("gcc", {"-O2", "-Wl,-z,lazy"}, {source}, folder.file("plt"));
  ElfFile elf = open_elf(folder.file("plt"));
  const ElfSection* plt = elf.find_section(".plt");
  REQUIRE(plt != nullptr);
  UnwindTable table = UnwindTable::compile(elf);
  SmallStack stack;
  // 0: jmp *got   6: push $index   11: jmp PLT0
  for (auto [into, pushed] : {std::pair{0, 0}, {6, 0}, {11, 8}}) {
    ElfAddr position = plt->start.plus(16 + into);
    const UnwindRule* rule = table.find(position);
    REQUIRE(rule != nullptr);
    Registers registers;
    registers.set(Register::rsp, 0x1000);
    registers.set(Register::rip, position.value);
    Recovered cfa = cfa_of(*rule, registers, StackMemory(stack.sample));
    REQUIRE(cfa.ok());
    CHECK(cfa.value() == 0x1008u + pushed);
    Registers caller;
    CHECK_FALSE(recover_caller(*rule, cfa.value(), registers, StackMemory(stack.sample), false, caller));
    CHECK(caller.find(Register::rsp) == cfa.value());
    CHECK(caller.find(Register::rip) == stack.words[pushed / 8]);
    CHECK_FALSE(caller.knows(Register::rdi));
  }
}

TEST_CASE("tables give each module its own rules, and one place to equal ones") {
  UnwindTables tables;
  Module first, second, empty;
  first.id = {0};
  first.elf = open_elf(kLibc);
  second.id = {1};
  second.elf = open_elf("/lib64/ld-linux-x86-64.so.2");
  empty.id = {2};
  ElfSymbol qsort = symbol(*first.elf, "qsort");
  const UnwindRule* rule = tables.of(first).find(qsort.start);
  REQUIRE(rule != nullptr);
  CHECK(as_readelf(*rule) == "rsp+8");
  CHECK(tables.of(first).find(symbol(*first.elf, "abort").start) == rule);
  CHECK(tables.of(first).find({1}) == nullptr);
  CHECK(tables.of(empty).find(qsort.start) == nullptr);
  // ld.so ends long before qsort's place in libc, or has another function there.
  CHECK(tables.of(second).find({uint64_t{1} << 40}) == nullptr);
}

}  // namespace jitprof
