// SPDX-License-Identifier: Apache-2.0
// What a VM publishes by jit.h, read back.
#include <cstring>
#include <filesystem>
#include <set>

#include "include/jitprof/jit.h"
#include "tests/catch.h"
#include "tests/programs/toy_jit/methods.h"
#include "tests/programs/toy_jit/object_file.h"
#include "tests/programs/toy_jit/published.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/dump_records.h"
#include "tests/unwind/inline_entries.h"
#include "unwind/jit/published_record.h"

namespace jitprof::tests {
namespace {

void check_against_truth(const toy::Method& method, const PublishedRecord& record) {
  size_t row = 0;
  const std::vector<toy::Instruction>& truth = method.instructions();
  for (size_t i = 0; i < truth.size(); ++i) {
    uint64_t end = i + 1 < truth.size() ? truth[i + 1].offset : method.bytes().size();
    for (uint32_t offset = truth[i].offset; offset < end; ++offset) {
      INFO(method.name() << "+" << offset);
      std::vector<InlineTable::Frame> chain = record.inlines.lookup(offset);
      REQUIRE(chain.size() == truth[i].chain.size());
      for (size_t level = 0; level < chain.size(); ++level) {
        bool is_method = level + 1 == chain.size();
        CHECK(chain[level].name == (is_method ? "" : truth[i].chain[level].name));
        CHECK(chain[level].file == truth[i].chain[level].file);
        CHECK(chain[level].line == truth[i].chain[level].line);
      }
    }
    while (row + 1 < record.frame_rows.size() && record.frame_rows[row + 1].offset <= truth[i].offset) ++row;
    CHECK(record.frame_rows[row].base == (truth[i].frame.by_rbp ? Register::rbp : Register::rsp));
    CHECK(record.frame_rows[row].cfa_offset == truth[i].frame.cfa_offset);
    CHECK(record.frame_rows[row].rbp_offset == truth[i].frame.rbp_offset);
  }
}

// A table of one thing after the other, and what its finish says.
template <class Steps>
int finish_of(Steps steps, uint64_t size = 100) {
  jitprof_inline_table table;
  jitprof_inline_start(&table);
  steps(&table);
  int error = jitprof_inline_finish(&table, size);
  jitprof_jit_code code = small_code();
  code.size = size;
  code.inlines = &table;
  // Nothing is published of a table that is not in order.
  CHECK((jitprof_is_in_order(&code) == 1) == (error == JITPROF_INLINE_OK));
  jitprof_inline_free(&table);
  return error;
}

}  // namespace

TEST_CASE("jit.h compiles without a warning as C11 and as C++, and from two files") {
  TempDir folder;
  std::string include = "-I" JP_SOURCE_ROOT "/include";
  std::string main = folder.write(
      "main.c",
      "#include <jitprof/jit.h>\n#include <jitprof/sniffer.h>\nint other(void);\n"
      "int main(void) { struct jitprof_jit jit; return other() + jitprof_jit_open(&jit, NULL); }\n");
  std::string other = folder.write(
      "other.c", "#include <jitprof/jit.h>\nint other(void);\nint other(void) { return JITPROF_RECORD; }\n");
  const std::vector<std::string> warnings = {"-Wall",    "-Wextra",      "-Werror",       "-pedantic",
                                             "-Wshadow", "-Wconversion", "-fsyntax-only", include,
                                             main,       other};
  for (const std::vector<std::string>& compiler :
       std::vector<std::vector<std::string>>{{"gcc", "-std=c11"},
                                             {"gcc", "-std=gnu11"},
                                             {"g++", "-x", "c++", "-std=c++11"},
                                             {"g++", "-x", "c++", "-std=c++20"}}) {
    std::vector<std::string> command = compiler;
    command.insert(command.end(), warnings.begin(), warnings.end());
    ProgramResult result = run_program(command);
    INFO(compiler.back() << "\n" << result.err);
    CHECK(result.status == 0);
  }
}

TEST_CASE("what the toy JIT publishes is the truth at every byte") {
  OpenDump dump;
  bool only_frame_pointers = GENERATE(false, true);
  const void* slot = nullptr;
  toy::Chain chain = toy::make_chain(only_frame_pointers, 9, nullptr, &slot, &slot);
  for (const toy::Method* method : {&chain.outer, &chain.middle, &chain.leaf}) {
    toy::Published published(*method);
    jitprof_jit_code code = published.code(0x4000);
    uint64_t index = 77;
    REQUIRE(jitprof_jit_publish(&dump.jit, &code, &index) == 0);
    Dump read = dump.read();
    REQUIRE(read.records.size() >= 3);
    const DumpRecord& details = read.records[read.records.size() - 2];
    REQUIRE(details.id == kPublishedRecordId);
    std::optional<PublishedRecord> record = read_published_record(details.bytes());
    REQUIRE(record);
    CHECK(record->code_index == index);
    CHECK(record->code_start == RuntimeAddr{0x4000});
    CHECK(record->code_size == method->bytes().size());
    CHECK_FALSE((record->inlines_dropped || record->frame_rows_dropped));
    check_against_truth(*method, *record);
  }
  CHECK(dump.read().ids() ==
        std::vector<uint32_t>{2, kPublishedRecordId, 0, 2, kPublishedRecordId, 0, 2, kPublishedRecordId, 0});
}

TEST_CASE("the example of the guide does what the guide says") {
  std::string guide = read_file(JP_SOURCE_ROOT "/include/jitprof/JIT.md");
  size_t start = guide.find("    struct jitprof_inline_table table;");
  size_t end = guide.find("jitprof_inline_free(&table);", start);
  REQUIRE(end != std::string::npos);
  TempDir folder;
  std::string program = folder.file("example");
  std::string source = folder.write(
      "example.c",
      "#include <jitprof/jit.h>\nint main(void) {\n  static const unsigned char bytes[26];\n"
      "  struct jitprof_jit jit;\n  uint64_t index;\n  int error = jitprof_jit_open(&jit, NULL);\n"
      "  struct jitprof_jit_code code = {.name = \"outer\", .start = 0x1000, .size = sizeof bytes,\n"
      "    .bytes = bytes, .file = \"shape.toy\"};\n" +
          guide.substr(start, end - start) + "  return error;\n}\n");
  REQUIRE(run_program({"gcc", "-std=c11", "-I" JP_SOURCE_ROOT "/include", source, "-o", program}).status ==
          0);
  REQUIRE(run_program({program}, "", 20, {"JITDUMPDIR=" + folder.path()}).status == 0);
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".dump") path = entry.path();
  }
  Dump dump = read_dump(path);
  REQUIRE(dump.ids() == std::vector<uint32_t>{kPublishedRecordId, 0});
  std::optional<PublishedRecord> record = read_published_record(dump.records[0].bytes());
  REQUIRE(record);
  CHECK(chain_of(record->inlines, 17) == InlineChain{{1, 31}, {0, 21}, {InlineTable::kMethod, 12}});
  CHECK(chain_of(record->inlines, 20) == InlineChain{{0, 22}, {InlineTable::kMethod, 12}});
  CHECK(chain_of(record->inlines, 24) == InlineChain{{InlineTable::kMethod, 13}});
  CHECK(record->inlines.lookup(17)[0].name == "leaf");
}

TEST_CASE("random tables pass through the encoder and the decoder unchanged") {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    RandomInlines random(seed);
    jitprof_inline_table table;
    jitprof_inline_start(&table);
    // The encoder wants at its begin what the entries say behind the body.
    std::vector<size_t> callee_of_open(random.entries.size());
    std::vector<size_t> open;
    for (size_t i = 0; i < random.entries.size(); ++i) {
      if (random.entries[i].line == -2) open.push_back(i);
      if (random.entries[i].line > -3) continue;
      callee_of_open[open.back()] = i;
      open.pop_back();
    }
    for (size_t i = 0; i < random.entries.size(); ++i) {
      InlineTable::Entry entry = random.entries[i];
      if (entry.line >= 0) jitprof_inline_line(&table, entry.value, static_cast<uint32_t>(entry.line));
      if (entry.line == -2) {
        InlineTable::Entry callee = random.entries[callee_of_open[i]];
        std::string name = "callee " + std::to_string(callee.value);
        jitprof_inline_begin(&table, entry.value, name.c_str(), nullptr,
                             static_cast<uint32_t>(-3 - callee.line), 1);
      }
      bool is_close = entry.line == -1;
      uint32_t end = is_close && i + 1 < random.entries.size() ? random.entries[i + 1].value : 0;
      if (is_close) jitprof_inline_end(&table, end);
    }
    INFO("seed " << seed);
    REQUIRE(jitprof_inline_finish(&table, random.size()) == JITPROF_INLINE_OK);

    InlineEntries entries(table.entries.size / sizeof(jitprof_inline_entry));
    if (!entries.empty()) std::memcpy(entries.data(), table.entries.bytes, table.entries.size);
    std::vector<std::string> names;
    for (const char* name = reinterpret_cast<const char*>(table.callees.bytes);
         names.size() < table.callee_count; name += names.back().size() + 2) {
      names.emplace_back(name);
    }
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    std::vector<InlineTable::Callee> callees;
    for (const std::string& name : names) callees.push_back({name, ""});
    std::optional<InlineTable> decoded = InlineTable::make(entries, random.size(), "", callees);
    jitprof_inline_free(&table);
    REQUIRE(decoded);
    for (uint32_t offset = 0; offset < random.size(); ++offset) {
      INFO("offset " << offset);
      std::vector<InlineTable::Frame> chain = decoded->lookup(offset);
      REQUIRE(chain.size() == random.chains[offset].size());
      for (size_t level = 0; level < chain.size(); ++level) {
        auto [callee, line] = random.chains[offset][level];
        REQUIRE(chain[level].line == line);
        if (callee != InlineTable::kMethod) REQUIRE(chain[level].name == "callee " + std::to_string(callee));
      }
    }
  }
}

TEST_CASE("the encoder reports the first thing that is wrong") {
  using Table = jitprof_inline_table*;
  auto begin = [](Table table, uint32_t offset) {
    jitprof_inline_begin(table, offset, "callee", "a.src", 5, 6);
  };
  CHECK(finish_of([](Table) {}) == JITPROF_INLINE_OK);
  CHECK(finish_of([](Table table) { jitprof_inline_line(table, 100, JITPROF_MAX_LINE); }) ==
        JITPROF_INLINE_OK);
  CHECK(finish_of([](Table table) { jitprof_inline_line(table, 101, 1); }) == JITPROF_INLINE_BEYOND_CODE);
  CHECK(finish_of([](Table table) { jitprof_inline_line(table, 0, JITPROF_MAX_LINE + 1u); }) ==
        JITPROF_INLINE_BAD_LINE);
  CHECK(finish_of([](Table table) { jitprof_inline_line(table, 0, UINT32_MAX); }) == JITPROF_INLINE_BAD_LINE);
  CHECK(finish_of([](Table table) { jitprof_inline_end(table, 0); }) == JITPROF_INLINE_NOT_OPEN);
  CHECK(finish_of([&](Table table) { begin(table, 0); }) == JITPROF_INLINE_STILL_OPEN);
  CHECK(finish_of([&](Table table) {
          begin(table, 9);
          jitprof_inline_end(table, 8);
        }) == JITPROF_INLINE_OUT_OF_ORDER);
  CHECK(finish_of([](Table table) { jitprof_inline_begin(table, 0, "", nullptr, 1, 1); }) ==
        JITPROF_INLINE_NO_NAME);
  CHECK(finish_of([](Table table) { jitprof_inline_begin(table, 0, nullptr, nullptr, 1, 1); }) ==
        JITPROF_INLINE_NO_NAME);
  CHECK(finish_of([](Table table) { jitprof_inline_begin(table, 0, "a", nullptr, UINT32_MAX, 1); }) ==
        JITPROF_INLINE_BAD_LINE);
  CHECK(finish_of([](Table table) {
          jitprof_inline_finish(table, 100);
          jitprof_inline_line(table, 0, 1);
        }) == JITPROF_INLINE_FINISHED);
  for (int depth : {+JITPROF_MAX_INLINE_DEPTH, JITPROF_MAX_INLINE_DEPTH + 1}) {
    CHECK(finish_of([&](Table table) {
            for (int i = 0; i < depth; ++i) begin(table, 0);
            for (int i = 0; i < depth; ++i) jitprof_inline_end(table, 50);
          }) == (depth == JITPROF_MAX_INLINE_DEPTH ? JITPROF_INLINE_OK : JITPROF_INLINE_TOO_DEEP));
  }
}

}  // namespace jitprof::tests
