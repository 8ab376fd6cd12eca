// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/inline_table.h"

#include <random>

#include "tests/catch.h"
#include "tests/unwind/inline_entries.h"

namespace jitprof::tests {
namespace {

constexpr uint32_t kMethod = InlineTable::kMethod;
constexpr uint32_t kSize = 100;

std::optional<InlineTable> make(const InlineEntries& entries, uint32_t size = kSize) {
  return InlineTable::make(entries, size, "method.src", numbered_callees(3));
}

InlineChain chain_at(const InlineEntries& entries, uint32_t offset) {
  std::optional<InlineTable> table = make(entries);
  REQUIRE(table);
  CHECK(look_up_by_definition(entries, offset) == chain_of(*table, offset));
  return chain_of(*table, offset);
}

// leaf (1) in small (0) in the method.
const InlineEntries kNested = {{10, 0}, {-2, 4},  {20, 4},      {-2, 9}, {30, 9}, {-3 - 21, 1},
                               {-1, 9}, {21, 15}, {-3 - 12, 0}, {-1, 4}, {12, 20}};

}  // namespace

TEST_CASE("a chain comes innermost first, each method at the line where it calls the one before") {
  CHECK(chain_at(kNested, 0) == InlineChain{{kMethod, 10}});
  CHECK(chain_at(kNested, 3) == InlineChain{{kMethod, 10}});
  CHECK(chain_at(kNested, 4) == InlineChain{{0, 20}, {kMethod, 12}});
  CHECK(chain_at(kNested, 9) == InlineChain{{1, 30}, {0, 21}, {kMethod, 12}});
  CHECK(chain_at(kNested, 14) == InlineChain{{1, 30}, {0, 21}, {kMethod, 12}});
  CHECK(chain_at(kNested, 15) == InlineChain{{0, 21}, {kMethod, 12}});
  CHECK(chain_at(kNested, 19) == InlineChain{{0, 21}, {kMethod, 12}});
  CHECK(chain_at(kNested, 20) == InlineChain{{kMethod, 12}});
  CHECK(chain_at(kNested, kSize) == InlineChain{{kMethod, 12}});

  std::optional<InlineTable> table =
      InlineTable::make(kNested, kSize, "method.src", {{"small", "a.src"}, {"leaf", ""}});
  REQUIRE(table);
  std::vector<InlineTable::Frame> chain = table->lookup(10);
  REQUIRE(chain.size() == 3);
  CHECK((chain[0].name == "leaf" && chain[0].file.empty()));
  CHECK((chain[1].name == "small" && chain[1].file == "a.src"));
  CHECK((chain[2].name.empty() && chain[2].file == "method.src"));
}

TEST_CASE("bodies that touch, that are empty and that share a line keep apart") {
  // Two calls at line 5, the second body directly behind the first: no line of the caller between them.
  InlineEntries touching = {{5, 0},  {-2, 4}, {20, 4},     {-3 - 5, 0}, {-1, 4},
                            {-2, 8}, {40, 8}, {-3 - 5, 1}, {-1, 8},     {5, 12}};
  CHECK(chain_at(touching, 7) == InlineChain{{0, 20}, {kMethod, 5}});
  CHECK(chain_at(touching, 8) == InlineChain{{1, 40}, {kMethod, 5}});
  CHECK(chain_at(touching, 12) == InlineChain{{kMethod, 5}});

  InlineEntries empty = {{5, 0},  {-2, 4},     {20, 4}, {-3 - 5, 0}, {-1, 4},
                         {-2, 4}, {-3 - 6, 1}, {-1, 4}, {7, 4}};
  CHECK(chain_at(empty, 3) == InlineChain{{kMethod, 5}});
  CHECK(chain_at(empty, 4) == InlineChain{{kMethod, 7}});

  // A body that starts where the code does, in a body that does, and both end with it.
  InlineEntries whole = {{-2, 0},    {-2, 0},     {30, 0}, {-3 - 2, 1}, {-1, 0},
                         {2, kSize}, {-3 - 1, 0}, {-1, 0}, {1, kSize}};
  CHECK(chain_at(whole, 0) == InlineChain{{1, 30}, {0, 2}, {kMethod, 1}});
  CHECK(chain_at(whole, kSize - 1) == InlineChain{{1, 30}, {0, 2}, {kMethod, 1}});
}

TEST_CASE("what no entry says is not known") {
  CHECK(chain_at({{7, 4}}, 3) == InlineChain{{kMethod, 0}});
  CHECK(chain_at({}, 0) == InlineChain{{kMethod, 0}});
  CHECK(InlineTable().lookup(5).size() == 1);
  CHECK(make({})->empty());
  CHECK(InlineTable().empty());
  CHECK_FALSE(make({{0, 0}})->empty());
  // Instructions of a body before its first line count for what comes before the body.
  InlineEntries late = {{5, 0}, {-2, 4}, {20, 6}, {-3 - 5, 0}, {-1, 4}, {5, 8}};
  CHECK(chain_at(late, 5) == InlineChain{{kMethod, 5}});
  CHECK(chain_at(late, 6) == InlineChain{{0, 20}, {kMethod, 5}});
}

TEST_CASE("a table that breaks a rule is refused") {
  const InlineEntries broken[] = {
      {{10, 4}, {11, 3}},                                  // falling offsets
      {{10, kSize + 1}},                                   // beyond the code
      {{10, 0}, {11, UINT32_MAX}},                         // a negative offset
      {{INT32_MAX, 0}},                                    // no such line
      {{InlineTable::kMaxLine + 1, 0}},                    //
      {{-2, 0}, {20, 0}},                                  // not closed
      {{10, 0}, {-1, 0}, {11, 4}},                         // close of nothing, without a callee
      {{10, 0}, {-3 - 10, 0}, {-1, 0}, {11, 4}},           // close of nothing
      {{-2, 0}, {20, 0}, {-1, 0}, {10, 4}},                // no callee
      {{-2, 0}, {20, 0}, {-3 - 10, 3}, {-1, 0}, {10, 4}},  // a callee that is not there
      {{-2, 0}, {20, 0}, {-3 - 10, UINT32_MAX}, {-1, 0}, {10, 4}},
      {{-2, 0}, {20, 0}, {-3 - 10, 0}, {21, 3}, {-1, 0}, {10, 4}},  // a callee that no close follows
      {{-2, 0}, {20, 0}, {-3 - 10, 0}, {-3 - 10, 0}, {-1, 0}, {10, 4}},
      {{-2, 0}, {20, 0}, {-3 - 10, 0}},
      {{-2, 0}, {20, 0}, {-3 - 10, 0}, {-1, 4}, {10, 4}},  // the end instead of the start
      {{-2, 0}, {20, 0}, {-3 - 10, 0}, {-1, 0}},           // nothing behind the close
      {{-2, 0}, {-2, 0}, {20, 0}, {-3 - 21, 1}, {-1, 0}, {-3 - 10, 0}, {-1, 0}, {10, 4}},  // nor here
      {{-2, 4}, {20, 4}, {-3 - 10, 0}, {-1, 4}, {10, 2}},  // the caller goes on before the body
      // Marks of a table whose lines are unsigned and of 16 bits.
      {{65534, 4}, {20, 4}, {65533 - 10, 0}, {65535, 4}, {10, 8}},
  };
  for (const InlineEntries& entries : broken) {
    INFO("table " << &entries - broken);
    CHECK_FALSE(make(entries));
  }
  CHECK(make({{InlineTable::kMaxLine, kSize}}));
  CHECK(make({{-2, 0}, {20, 0}, {INT32_MIN, 0}, {-1, 0}, {10, 4}})->lookup(0)[1].line ==
        InlineTable::kMaxLine);
}

TEST_CASE("bodies nest as deep as the limit and not deeper") {
  for (uint32_t depth : {InlineTable::kMaxDepth, InlineTable::kMaxDepth + 1}) {
    InlineEntries entries = {{1, 0}};
    for (uint32_t i = 0; i < depth; ++i) {
      entries.push_back({-2, i});
      entries.push_back({static_cast<int32_t>(i), i});
    }
    for (uint32_t i = depth; i-- > 0;) {
      entries.push_back({-3 - static_cast<int32_t>(i), 0});
      entries.push_back({-1, i});
      entries.push_back({1, 2 * depth - i});
    }
    std::optional<InlineTable> table = make(entries, 2 * depth);
    REQUIRE(table.has_value() == (depth == InlineTable::kMaxDepth));
    for (uint32_t offset = 0; table && offset < 2 * depth; ++offset) {
      REQUIRE(chain_of(*table, offset) == look_up_by_definition(entries, offset));
    }
  }
}

TEST_CASE("random tables say at every offset what they were made for") {
  uint64_t inlined = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomInlines random(seed);
    std::optional<InlineTable> table =
        InlineTable::make(random.entries, random.size(), "", numbered_callees(RandomInlines::kCallees));
    INFO("seed " << seed);
    REQUIRE(table);
    for (uint32_t offset = 0; offset < random.size(); ++offset) {
      INFO("offset " << offset);
      REQUIRE(chain_of(*table, offset) == random.chains[offset]);
      REQUIRE(look_up_by_definition(random.entries, offset) == random.chains[offset]);
      inlined += random.chains[offset].size() > 2;
    }
  }
  CHECK(inlined > 10000);
}

TEST_CASE("a damaged table is refused or looked up as it is defined") {
  uint64_t accepted = 0;
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    RandomInlines made(seed % 500);
    std::mt19937 random(seed);
    for (uint32_t i = 0; i <= random() % 3; ++i) {
      InlineTable::Entry& entry = made.entries[random() % made.entries.size()];
      const InlineTable::Entry& other = made.entries[random() % made.entries.size()];
      switch (random() % 4) {
        case 0:
          entry.line = other.line;
          break;
        case 1:
          entry.value = other.value;
          break;
        case 2:
          entry.line = static_cast<int32_t>(random() >> random() % 32);
          break;
        default:
          made.entries.erase(made.entries.begin() + random() % made.entries.size());
      }
      if (made.entries.empty()) break;
    }
    std::optional<InlineTable> table =
        InlineTable::make(made.entries, made.size(), "", numbered_callees(RandomInlines::kCallees));
    if (!table) continue;
    ++accepted;
    for (uint32_t offset = 0; offset < made.size() + 2; ++offset) {
      INFO("seed " << seed << ", offset " << offset);
      REQUIRE(chain_of(*table, offset) == look_up_by_definition(made.entries, offset));
    }
  }
  CHECK(accepted > 100);
}

}  // namespace jitprof::tests
