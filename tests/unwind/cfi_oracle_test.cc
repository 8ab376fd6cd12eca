// SPDX-License-Identifier: Apache-2.0
// Our rows against libdw's, at every byte of code.
#include <elf.h>
#include <unistd.h>

#include <map>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/libdw_rows.h"
#include "unwind/cfi/rule_text.h"
#include "unwind/cfi/unwind_table.h"

namespace jitprof {
namespace {

using tests::LibdwRows;
using tests::PlainRule;
using tests::TempDir;

class Comparison {
 public:
  explicit Comparison(const std::string& path, LibdwRows::Section section)
      : rows_(path, section), path_(path) {
    auto elf = ElfFile::open(path);
    REQUIRE(elf.ok());
    table_ = UnwindTable::compile(elf.value());
    CHECK(table_.unreadable() == 0);
    for (const ElfSection& part : elf.value().sections()) {
      if ((part.flags & SHF_EXECINSTR) != 0) compare(part.start.value, part.start.value + part.size);
    }
    CHECK(differences_ == 0);
  }

  size_t distinct_rules() const { return known_.size(); }
  uint64_t rows() const { return row_count_; }

 private:
  // libdw runs the FDE's program for each question, so it is asked once a row.
  void compare(uint64_t begin, uint64_t end) {
    std::optional<LibdwRows::Row> row;
    const UnwindRule* last = nullptr;
    for (uint64_t position = begin; position < end; ++position) {
      bool is_new = !row || position >= row->end;
      if (is_new) {
        row = rows_.find(position);
        row_count_ += row.has_value();
      }
      const UnwindRule* ours = table_.find({position});
      if (!is_new && ours == last) continue;
      last = ours;
      bool is_same = row && row->rule ? ours != nullptr && spelled_out(ours) == *row->rule : ours == nullptr;
      if (!is_same && ++differences_ < 5) {
        UNSCOPED_INFO(path_ << " at " << std::hex << position
                            << " ours: " << (ours == nullptr ? "none" : to_text(*ours))
                            << (row && row->rule ? " libdw has one" : " libdw has none"));
      }
    }
  }

  const PlainRule& spelled_out(const UnwindRule* rule) {
    auto [place, is_new] = known_.try_emplace(rule);
    if (is_new) place->second = tests::plain(*rule);
    return place->second;
  }

  LibdwRows rows_;
  std::string path_;
  UnwindTable table_;
  std::map<const UnwindRule*, PlainRule> known_;
  uint64_t row_count_ = 0;
  unsigned differences_ = 0;
};

constexpr const char* kCode = R"(
  #include <cstdio>
  #include <stdexcept>
  #include <string>
  #include <vector>
  struct alignas(64) Wide { int values[32]; };
  int use(Wide*, void*);
  int realigned(int n) { Wide wide{{n}}; void* more = __builtin_alloca(n); return use(&wide, more); }
  int thrower(const std::string& text, std::vector<int>& into) {
    std::string copy = text + "!";
    if (copy.size() > 3) throw std::runtime_error(copy);
    for (char letter : copy) into.push_back(letter);
    std::printf("%s\n", copy.c_str());
    return into.size();
  }
  __attribute__((noreturn)) void ends_in_a_call(int n) { if (n) __builtin_abort(); throw n; }
)";

}  // namespace

TEST_CASE("rows of installed libraries and programs are libdw's") {
  char own[4096] = {};
  REQUIRE(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
  for (const std::string& path :
       {std::string("/lib/x86_64-linux-gnu/libc.so.6"), std::string("/lib64/ld-linux-x86-64.so.2"),
        std::string("/usr/lib/x86_64-linux-gnu/libstdc++.so.6"), std::string("/usr/bin/python3"),
        std::string("/usr/lib/x86_64-linux-gnu/libclang-cpp.so.14"), std::string(own)}) {
    if (access(path.c_str(), R_OK) != 0) continue;
    Comparison comparison(path, LibdwRows::Section::kEhFrame);
    CHECK(comparison.rows() > 1000);
    CHECK(comparison.distinct_rules() > 50);
  }
}

TEST_CASE("rows of compiled programs are libdw's") {
  TempDir folder;
  std::string source = folder.write("code.cc", kCode);
  std::string output = folder.file("code.so");
  for (const char* compiler : {"g++", "clang++-16"}) {
    for (const char* level : {"-O0", "-O2"}) {
      for (const char* frame : {"-fomit-frame-pointer", "-fno-omit-frame-pointer"}) {
        INFO(compiler << " " << level << " " << frame);
        tests::compile(compiler, {level, frame, "-shared", "-fPIC", "-g"}, {source}, output);
        Comparison comparison(output, LibdwRows::Section::kEhFrame);
        CHECK(comparison.rows() > 10);
      }
    }
  }
}

TEST_CASE("rows of code that has only .debug_frame are libdw's") {
  TempDir folder;
  std::string source = folder.write("code.c", R"(
    int use(int*);
    int with_frame(int n) { int values[8] = {n}; return use(values) + use(values + 1); }
    int with_loop(int n, int m) { int sum = 0; while (n--) sum += use(&m); return sum; })");
  std::string output = folder.file("code.so");
  for (const char* compiler : {"gcc", "clang-16"}) {
    for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
      INFO(compiler << " " << version);
      std::vector<std::string> flags = {"-O2",   version,     "-shared",
                                        "-fPIC", "-nostdlib", "-fno-asynchronous-unwind-tables"};
      tests::compile(compiler, flags, {source}, output);
      Comparison comparison(output, LibdwRows::Section::kDebugFrame);
      CHECK(comparison.rows() > 5);
    }
  }
}

}  // namespace jitprof
