// SPDX-License-Identifier: Apache-2.0
// Programs whose files or C libraries are not as usual.
#include <elf.h>
#include <sys/stat.h>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/stopped_program.h"

namespace jitprof {
namespace {

using tests::KeptWalk;
using tests::StoppedProgram;
using tests::TempDir;

constexpr size_t kWholeStack = 8 << 20;

std::string build(const TempDir& folder, const std::string& compiler, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"-O2", "-pthread"});
  std::string program = folder.file("scenarios");
  tests::compile(compiler, flags, {"traps/scenarios.c"}, program);
  return program;
}

ElfFile open_elf(const std::string& path) {
  auto elf = ElfFile::open(path);
  REQUIRE(elf.ok());
  return std::move(elf.value());
}

size_t count_of(StoppedProgram& stopped, const KeptWalk& walk, const std::string& name) {
  size_t count = 0;
  for (const tests::KeptFrame& kept : walk.frames) count += stopped.name_of(kept.frame) == name;
  return count;
}

}  // namespace

TEST_CASE("real recursion of 10,000 reaches the root, in the main thread and in another") {
  TempDir folder;
  auto [compiler, flags] = GENERATE(std::pair<std::string, std::vector<std::string>>{"gcc", {}},
                                    std::pair<std::string, std::vector<std::string>>{"gcc", {"-static"}},
                                    std::pair<std::string, std::vector<std::string>>{"gcc", {"-static-pie"}},
                                    std::pair<std::string, std::vector<std::string>>{"musl-gcc", {}});
  std::string program = build(folder, compiler, flags);
  for (const char* scenario : {"recursion", "thread"}) {
    INFO(compiler << " " << scenario);
    StoppedProgram stopped({program, scenario, "10000"});
    KeptWalk walk = stopped.walk(kWholeStack);
    CHECK(count_of(stopped, walk, "recurse") == 10'001);
    // musl is built without unwind tables: nothing says how to leave its __libc_start_main, nor that a thread
    // begins in its __clone.
    CHECK(walk.stop == (compiler == "gcc" ? StopReason::kReachedRoot : StopReason::kNoUnwindInfo));
    CHECK(walk.frames.size() < 10'010);
  }
}

TEST_CASE("a program without section headers is unwound through its program headers") {
  TempDir folder;
  std::string bytes = tests::read_file(build(folder, "gcc", {}));
  // e_shoff, e_shnum, e_shstrndx.
  std::fill_n(bytes.begin() + offsetof(Elf64_Ehdr, e_shoff), 8, '\0');
  std::fill_n(bytes.begin() + offsetof(Elf64_Ehdr, e_shnum), 4, '\0');
  std::string program = folder.write("stripped", bytes);
  REQUIRE(chmod(program.c_str(), 0700) == 0);
  REQUIRE(open_elf(program).sections().empty());
  StoppedProgram stopped({program, "recursion", "5"});
  KeptWalk walk = stopped.walk();
  CHECK(walk.stop == StopReason::kReachedRoot);
  size_t own = 0;
  for (const tests::KeptFrame& kept : walk.frames)
    own += stopped.place_of(kept.frame).starts_with("stripped+");
  CHECK(own == 9);  // stops, recurse 6 times, main, _start
}

TEST_CASE("code whose p_vaddr is not its p_offset (lld)") {
  TempDir folder;
  std::string program = build(folder, "clang-16", {"-fuse-ld=lld"});
  bool is_shifted = false;
  ElfFile elf = open_elf(program);
  for (const ElfSegment& segment : elf.segments()) {
    bool is_code = segment.type == PT_LOAD && (segment.flags & PF_X);
    is_shifted |= is_code && segment.start.value != segment.offset.value;
  }
  CHECK(is_shifted);
  StoppedProgram stopped({program, "recursion", "5"});
  KeptWalk walk = stopped.walk();
  CHECK(walk.stop == StopReason::kReachedRoot);
  CHECK(stopped.names_of(walk).starts_with(
      "stops;recurse;recurse;recurse;recurse;recurse;recurse;main;__libc_start"));
}

// Assemblers may give .eh_frame this type (libclang-cpp.so of Debian has it).
TEST_CASE("an .eh_frame of type SHT_X86_64_UNWIND is found without PT_GNU_EH_FRAME") {
  TempDir folder;
  std::string bytes = tests::read_file(build(folder, "gcc", {}));
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  auto* segments = reinterpret_cast<Elf64_Phdr*>(bytes.data() + header.e_phoff);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type == PT_GNU_EH_FRAME) segments[i].p_type = PT_NULL;
  }
  auto* sections = reinterpret_cast<Elf64_Shdr*>(bytes.data() + header.e_shoff);
  const char* names = bytes.data() + sections[header.e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    if (std::string_view(names + sections[i].sh_name) == ".eh_frame") sections[i].sh_type = SHT_X86_64_UNWIND;
  }
  std::string program = folder.write("no_header", bytes);
  REQUIRE(chmod(program.c_str(), 0700) == 0);
  REQUIRE(open_elf(program).find_section(".eh_frame")->type == SHT_X86_64_UNWIND);
  StoppedProgram stopped({program, "recursion", "5"});
  KeptWalk walk = stopped.walk();
  CHECK(walk.stop == StopReason::kReachedRoot);
  CHECK(count_of(stopped, walk, "recurse") == 6);
}

}  // namespace jitprof
