// SPDX-License-Identifier: Apache-2.0
// Where the frame sections of a file are found, and the tables of many modules.
#include <thread>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "unwind/cfi/rule_text.h"
#include "unwind/cfi/table_cache.h"

namespace jitprof {
namespace {

using tests::TempDir;

constexpr const char* kLibc = "/lib/x86_64-linux-gnu/libc.so.6";

ElfFile open_elf(const std::string& path) {
  auto elf = ElfFile::open(path);
  REQUIRE(elf.ok());
  return std::move(elf.value());
}

ElfAddr start_of(const ElfFile& elf, std::string_view name) {
  for (const ElfSymbol& symbol : elf.code_symbols()) {
    if (symbol.name == name) return symbol.start;
  }
  FAIL("no symbol " << name);
  return {};
}

std::string rule_at(const ElfFile& elf, std::string_view name) {
  const UnwindTable table = UnwindTable::compile(elf);
  CHECK(table.unreadable() == 0);
  const UnwindRule* rule = table.find(start_of(elf, name));
  return rule == nullptr ? "none" : to_text(*rule);
}

void run(const std::vector<std::string>& arguments) { REQUIRE(tests::run_program(arguments).status == 0); }

// A library in which `tabled` has .eh_frame and `debugged` has only .debug_frame.
std::string half_debugged(const TempDir& folder, const std::vector<std::string>& more) {
  std::string tabled = folder.write("tabled.c", "int tabled(int n) { return n + 1; }\n");
  std::string debugged = folder.write("debugged.c", "int debugged(int n) { return n + 2; }\n");
  std::string objects[] = {folder.file("tabled.o"), folder.file("debugged.o")};
  tests::compile("gcc", {"-c", "-g", "-fPIC"}, {tabled}, objects[0]);
  tests::compile("gcc", {"-c", "-g", "-fPIC", "-fno-asynchronous-unwind-tables"}, {debugged}, objects[1]);
  std::string output = folder.file("half.so");
  std::vector<std::string> link = {"gcc", "-shared", "-nostdlib", "-g", objects[0], objects[1], "-o", output};
  link.insert(link.end(), more.begin(), more.end());
  run(link);
  return output;
}

void wipe(std::string& bytes, size_t offset, size_t size) { std::fill_n(bytes.begin() + offset, size, '\0'); }
// e_shoff, e_shnum, e_shstrndx.
void wipe_section_headers(std::string& bytes) {
  wipe(bytes, 40, 8);
  wipe(bytes, 60, 4);
}

}  // namespace

TEST_CASE("code that only .debug_frame knows, plain and compressed") {
  for (const char* compression : {"none", "zlib", "zlib-gnu"}) {
    INFO(compression);
    TempDir folder;
    ElfFile elf =
        open_elf(half_debugged(folder, {std::string("-Wl,--compress-debug-sections=") + compression}));
    CHECK(rule_at(elf, "tabled") == "cfa=rsp+8 rip=[cfa-8]");
    CHECK(rule_at(elf, "debugged") == "cfa=rsp+8 rip=[cfa-8]");
  }
}

TEST_CASE("a file without PT_GNU_EH_FRAME, and one of whose section headers nothing is left") {
  TempDir folder;
  ElfFile without_header = open_elf(half_debugged(folder, {"-Wl,--no-eh-frame-hdr"}));
  CHECK(rule_at(without_header, "tabled") == "cfa=rsp+8 rip=[cfa-8]");

  std::string bytes = tests::read_file(kLibc);
  wipe_section_headers(bytes);
  ElfFile without_sections = open_elf(folder.write("libc", bytes));
  UnwindTable table = UnwindTable::compile(without_sections), whole = UnwindTable::compile(open_elf(kLibc));
  CHECK(table.row_count() == whole.row_count());
  CHECK(table.unreadable() == 0);
}

TEST_CASE("a .eh_frame_hdr that lies is believed only where nothing else tells") {
  TempDir folder;
  ElfFile libc = open_elf(kLibc);
  const ElfSection* header = libc.find_section(".eh_frame_hdr");
  REQUIRE(header != nullptr);
  std::string bytes = tests::read_file(kLibc);
  for (char wrong : {'\x7f', '\x01', '\xff'}) {
    std::string lying = bytes;
    lying[header->offset.value + 4] ^= wrong;  // where .eh_frame begins
    lying[header->offset.value + 6] ^= wrong;
    ElfFile elf = open_elf(folder.write("libc", lying));
    CHECK(UnwindTable::compile(elf).row_count() == UnwindTable::compile(libc).row_count());
    wipe_section_headers(lying);
    ElfFile nothing_else = open_elf(folder.write("libc", lying));
    UnwindTable table = UnwindTable::compile(nothing_else);
    CHECK(table.bytes() < 16 * bytes.size());
  }
}

TEST_CASE("modules of one build-id share a table") {
  UnwindTables tables;
  Module first, second, stripped, other, nameless, empty;
  for (Module* module : {&first, &second, &nameless}) module->elf = open_elf(kLibc);
  other.elf = open_elf("/lib64/ld-linux-x86-64.so.2");
  TempDir folder;
  run({"strip", "--strip-debug", "-o", folder.file("libc"), kLibc});
  stripped.elf = open_elf(folder.file("libc"));
  uint32_t next = 0;
  for (Module* module : {&first, &second, &stripped, &other, &nameless, &empty}) {
    module->id = {next++};
    if (module->elf) module->build_id = module->elf->build_id();
  }
  nameless.build_id = {};
  CHECK_FALSE(first.build_id.empty());

  CHECK(tables.of(first).row_count() > 20'000);
  CHECK(&tables.of(first) == &tables.of(first));
  CHECK(&tables.of(second) == &tables.of(first));
  CHECK(&tables.of(other) != &tables.of(first));
  CHECK(&tables.of(nameless) != &tables.of(first));
  CHECK(tables.of(stripped).row_count() == tables.of(first).row_count());
  CHECK(tables.of(empty).row_count() == 0);
  CHECK(tables.unreadable().empty());
}

TEST_CASE("threads that ask for one table at once get the same") {
  UnwindTables tables;
  std::vector<Module> modules(8);
  for (uint32_t i = 0; i < modules.size(); ++i) {
    modules[i].id = {i};
    modules[i].elf = open_elf(i % 2 == 0 ? kLibc : "/lib64/ld-linux-x86-64.so.2");
    modules[i].build_id = modules[i].elf->build_id();
  }
  std::vector<std::vector<const UnwindTable*>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (const Module& module : modules) mine.push_back(&tables.of(module));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& theirs : seen) {
    CHECK(theirs == seen[0]);
    CHECK(theirs[0] == theirs[6]);
    CHECK(theirs[0]->row_count() > theirs[1]->row_count());
  }
}

TEST_CASE("unreadable CFI is told by module, a shared table once") {
  TempDir folder;
  ElfFile libc = open_elf(kLibc);
  const ElfSection* frames = libc.find_section(".eh_frame");
  std::string bytes = tests::read_file(kLibc);
  bytes[frames->offset.value + 8] = 2;  // the first CIE's version
  std::string damaged = folder.write("libc", bytes);
  std::vector<Module> modules(3);
  for (uint32_t i = 0; i < modules.size(); ++i) {
    modules[i].id = {i};
    modules[i].elf = i == 0 ? open_elf(kLibc) : open_elf(damaged);
    if (i != 0) modules[i].build_id = libc.build_id();
  }
  UnwindTables tables;
  for (size_t i : {2, 1, 0}) (void)tables.of(modules[i]);
  auto unreadable = tables.unreadable();
  REQUIRE(unreadable.size() == 1);
  CHECK(unreadable[0].module == ModuleId{1});
  CHECK(unreadable[0].entries > 100);
}

}  // namespace jitprof
