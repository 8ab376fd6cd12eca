// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/published_record.h"

#include <cstring>
#include <random>
#include <string>

#include "tests/catch.h"
#include "tests/unwind/inline_entries.h"

namespace jitprof::tests {
namespace {

// The body of a record, field by field as jit.h words it.
struct Body {
  uint32_t version = 1;
  uint32_t kind = 1;
  std::vector<std::array<uint32_t, 4>> rows;
  InlineEntries entries;
  uint32_t callee_count = 0;
  std::string strings = std::string(1, '\0');

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> made;
    auto put = [&](const auto& value) {
      const auto* start = reinterpret_cast<const std::byte*>(&value);
      made.insert(made.end(), start, start + sizeof value);
    };
    put(version);
    put(kind);
    for (uint64_t value : {uint64_t{7}, uint64_t{0x7000'0000'1000}, uint64_t{100}}) put(value);
    put(static_cast<uint32_t>(rows.size()));
    put(static_cast<uint32_t>(entries.size()));
    put(callee_count);
    put(static_cast<uint32_t>(strings.size()));
    for (const auto& row : rows) put(row);
    for (const InlineTable::Entry& entry : entries) put(entry);
    for (char letter : strings) put(letter);
    return made;
  }
};

Body whole_body() {
  Body body;
  body.rows = {{0, 7, 8, 0}, {1, 7, 16, static_cast<uint32_t>(-16)}, {4, 6, 16, static_cast<uint32_t>(-16)}};
  body.entries = {{5, 0}, {-2, 4}, {20, 4}, {-3 - 5, 1}, {-1, 4}, {6, 12}};
  body.callee_count = 2;
  body.strings = std::string("me.src\0a\0a.src\0b\0\0", 18);
  return body;
}

}  // namespace

TEST_CASE("the record of a code object gives its frame rows and its inlined methods") {
  std::optional<PublishedRecord> record = read_published_record(whole_body().bytes());
  REQUIRE(record);
  CHECK(record->kind == PublishedRecord::Kind::kDetails);
  CHECK(record->code_index == 7);
  CHECK(record->code_start == RuntimeAddr{0x7000'0000'1000});
  CHECK(record->code_size == 100);
  CHECK_FALSE((record->frame_rows_dropped || record->inlines_dropped));
  REQUIRE(record->frame_rows.size() == 3);
  CHECK(record->frame_rows[2].offset == 4);
  CHECK(record->frame_rows[2].base == Register::rbp);
  CHECK(record->frame_rows[1].base == Register::rsp);
  CHECK(record->frame_rows[1].cfa_offset == 16);
  CHECK(record->frame_rows[1].rbp_offset == -16);
  std::vector<InlineTable::Frame> chain = record->inlines.lookup(4);
  REQUIRE(chain.size() == 2);
  CHECK((chain[0].name == "b" && chain[0].file.empty() && chain[0].line == 20));
  CHECK((chain[1].name.empty() && chain[1].file == "me.src" && chain[1].line == 5));
}

TEST_CASE("a record that says nothing but that code is gone") {
  Body body;
  body.kind = 2;
  std::optional<PublishedRecord> record = read_published_record(body.bytes());
  REQUIRE(record);
  CHECK(record->kind == PublishedRecord::Kind::kUnload);
  CHECK(record->code_index == 7);
  CHECK(record->code_start == RuntimeAddr{0x7000'0000'1000});
  CHECK(record->code_size == 100);
}

TEST_CASE("records that are cut short or were made by a later jit.h are none") {
  std::vector<std::byte> bytes = whole_body().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    CHECK_FALSE(read_published_record(Bytes(bytes).first(size)));
  }
  bytes.resize(bytes.size() + 5);  // what a later one may add behind
  CHECK(read_published_record(bytes));
  Body later = whole_body();
  later.version = 2;
  CHECK_FALSE(read_published_record(later.bytes()));
  later = whole_body();
  later.kind = 3;
  CHECK_FALSE(read_published_record(later.bytes()));
}

TEST_CASE("counts that the bytes do not bear out allocate nothing") {
  std::vector<std::byte> bytes = whole_body().bytes();
  for (size_t field : {32, 36, 40, 44}) {
    std::vector<std::byte> spoiled = bytes;
    std::memset(&spoiled[field], 0xff, 4);
    std::optional<PublishedRecord> record = read_published_record(spoiled);
    INFO(field);
    // A count of callees is of the strings that are there: the record ends where it said.
    CHECK(record.has_value() == (field == 40));
    if (record) CHECK((record->inlines_dropped && record->inlines.empty()));
  }
}

TEST_CASE("frame rows that are not in order are left out, the rest is kept") {
  auto negative = [](int32_t value) { return static_cast<uint32_t>(value); };
  const std::array<uint32_t, 4> broken[] = {
      {1, 7, 16, 0},             // not above the row before
      {100, 7, 16, 0},           // beyond the code
      {2, 3, 16, 0},             // from rbx
      {2, 7 + 256, 16, 0},       // from no register
      {2, 7, 0, 0},              // no room for the return address
      {2, 7, negative(-8), 0},   //
      {2, 7, 16, 8},             // rbp in the caller's frame
      {2, 7, 16, negative(-8)},  // rbp where the return address is
  };
  for (const auto& row : broken) {
    Body body = whole_body();
    body.rows.resize(2);
    CHECK_FALSE(read_published_record(body.bytes())->frame_rows_dropped);
    body.rows.push_back(row);
    std::optional<PublishedRecord> record = read_published_record(body.bytes());
    INFO("row " << &row - broken);
    REQUIRE(record);
    CHECK(record->frame_rows_dropped);
    CHECK(record->frame_rows.empty());
    CHECK_FALSE(record->inlines.empty());
  }
  Body late = whole_body();
  late.rows.erase(late.rows.begin());
  CHECK(read_published_record(late.bytes())->frame_rows_dropped);
}

TEST_CASE("a line table that is not in order is left out, the rest is kept") {
  std::vector<Body> broken(4, whole_body());
  broken[0].entries.pop_back();
  broken[1].callee_count = 3;
  broken[2].strings.pop_back();
  broken[3].entries.back().value = 101;
  for (const Body& body : broken) {
    std::optional<PublishedRecord> record = read_published_record(body.bytes());
    INFO("table " << &body - broken.data());
    REQUIRE(record);
    CHECK(record->inlines_dropped);
    CHECK(record->inlines.empty());
    CHECK(record->frame_rows.size() == 3);
  }
}

TEST_CASE("no damage to a record does harm") {
  uint64_t kept = 0;
  for (uint32_t seed = 0; seed < 100000; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes = whole_body().bytes();
    for (uint32_t i = random() % 4; i-- > 0;) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    std::optional<PublishedRecord> record = read_published_record(bytes);
    if (!record) continue;
    ++kept;
    for (uint32_t offset = 0; offset < 101; offset += 4) {
      std::vector<InlineTable::Frame> chain = record->inlines.lookup(offset);
      REQUIRE(chain.back().callee == InlineTable::kMethod);
    }
  }
  CHECK(kept > 1000);
}

}  // namespace jitprof::tests
