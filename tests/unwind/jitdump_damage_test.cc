// SPDX-License-Identifier: Apache-2.0
// Damaged jitdumps: no crash, no hang, bounded memory, and only changes that make sense.
#include <random>

#include "tests/catch.h"
#include "tests/unwind/jitdump_builder.h"
#include "unwind/jit/jitdump.h"

namespace jitprof {
namespace {

template <class T>
std::string raw_bytes(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

// One frame row and, for two callees, nothing.
std::string published_details(uint64_t index, uint64_t start, uint64_t size) {
  return raw_bytes<uint32_t>({1, 1}) + raw_bytes<uint64_t>({index, start, size}) +
         raw_bytes<uint32_t>({1, 2, 0, 5}) + raw_bytes<uint32_t>({0, 7, 16, 0}) +
         raw_bytes<uint32_t>({3, 0, 4, 8}) + "a.vm" + '\0';
}

// Every kind of record, many times.
std::string original() {
  tests::JitdumpBuilder dump({.pad = 0xdeadbeef});
  for (uint64_t i = 0; i < 20; ++i) {
    uint64_t start = 0x7f0000001000 + 0x100 * i;
    dump.lines(start, {{start + 0x40, 3, "/srv/node/chain.js", 1}, {start + 0x48, 4, "\xff", 2}});
    dump.unwinding(std::string(40, 'f'));
    dump.record(kPublishedRecordId, i, published_details(i, start, 64));
    dump.load(i, start, "JS:*f /srv/node/chain.js:1:2", std::string(64, 'c'), i);
    if (i % 5 == 0) dump.move(i, start, start + 0x10000, 64);
    if (i % 7 == 0)
      dump.record(kPublishedRecordId, i,
                  raw_bytes<uint32_t>({1, 2}) + raw_bytes<uint64_t>({i, start, 64}) + std::string(16, '\0'));
  }
  return dump.close().text();
}

void check(const JitLog& log, size_t file_size) {
  CHECK(log.codes.size() <= file_size / 58);
  CHECK(log.changes.size() <= file_size / 40);
  size_t kept = 0;
  for (const JitCode& code : log.codes) {
    kept += code.name.size() + code.bytes.size() + code.eh_frame.size();
    REQUIRE(code.size == code.bytes.size());
    uint64_t least = 0;
    for (const JitLine& line : code.lines) {
      REQUIRE(line.offset >= least);
      REQUIRE(line.offset < code.size);
      REQUIRE(line.file < code.files.size());
      least = line.offset + 1;
    }
  }
  CHECK(kept <= file_size);
  for (const JitChange& change : log.changes) {
    REQUIRE(change.size > 0);
    REQUIRE(change.start.value + change.size >= change.size);
    REQUIRE(change.moved_to.value + change.size >= change.size);
    if (change.kind == JitChange::Kind::kLoad) REQUIRE(log.codes.at(change.code).size == change.size);
  }
}

void read_damaged(const std::string& text, std::mt19937& random) {
  JitLog log;
  JitdumpReader reader(1, true, log);
  Bytes bytes = std::as_bytes(std::span(text));
  size_t cut = random() % (bytes.size() + 1);
  reader.add(bytes.first(cut), {1000, 2000});
  reader.add(bytes.subspan(cut), {2000, 3000});
  reader.finish();
  check(log, text.size());
}

}  // namespace

TEST_CASE("the jitdump that is damaged is read whole") {
  JitLog log;
  std::string text = original();
  JitdumpReader reader(1, true, log);
  reader.add(std::as_bytes(std::span(text)), {});
  reader.finish();
  CHECK(log.shortfalls.empty());
  CHECK(log.changes.size() == 20 + 4 + 3);
  for (const JitCode& code : log.codes) {
    CHECK(code.lines.size() == 2);
    CHECK(code.frame_rows.size() == 1);
    CHECK(code.eh_frame.size() == 40);
  }
  check(log, text.size());
}

TEST_CASE("wrong bytes anywhere in a jitdump") {
  const std::string whole = original();
  for (unsigned seed = 0; seed < 1000; ++seed) {
    INFO(seed);
    std::mt19937 random(seed);
    std::string text = whole;
    for (unsigned i = 0; i < 1u << seed % 9; ++i)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    read_damaged(text, random);
  }
}

TEST_CASE("wrong numbers in the fields of jitdump records") {
  const std::string whole = original();
  const uint32_t numbers[] = {0, 1, 15, 16, 17, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  for (unsigned seed = 0; seed < 1000; ++seed) {
    INFO(seed);
    std::mt19937 random(seed);
    std::string text = whole;
    for (int i = 0; i < 3; ++i) {
      uint32_t number = numbers[random() % std::size(numbers)];
      text.replace(40 + random() % (text.size() - 44), 4, raw_bytes<uint32_t>({number}));
    }
    read_damaged(text, random);
  }
}

TEST_CASE("pieces of a jitdump in the wrong place") {
  const std::string whole = original();
  for (unsigned seed = 0; seed < 1000; ++seed) {
    INFO(seed);
    std::mt19937 random(seed);
    std::string text = whole;
    std::string piece = text.substr(random() % text.size(), random() % 400);
    text.insert(40 + random() % (text.size() - 40), piece);
    text.erase(40 + random() % (text.size() - 40), random() % 400);
    read_damaged(text, random);
  }
}

TEST_CASE("a jitdump record that claims much arrives in many pieces") {
  std::string text = tests::JitdumpBuilder().raw(raw_bytes<uint32_t>({0, 200 << 20, 0, 0})).text();
  JitLog log;
  JitdumpReader reader(1, true, log);
  reader.add(std::as_bytes(std::span(text)), {});
  // Must not look at, or move, what came before for each.
  std::vector<std::byte> piece(1000);
  for (int i = 0; i < 20'000; ++i) reader.add(piece, {});
  reader.finish();
  CHECK(log.changes.empty());
  CHECK(log.shortfalls == std::map<std::string, uint64_t>{{"jitdumps that end inside a record", 1}});
}

}  // namespace jitprof
