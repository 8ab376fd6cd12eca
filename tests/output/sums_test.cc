// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <sstream>

#include "output/flamegraph/flamegraph.h"
#include "output/format/folded.h"
#include "output/format/pprof.h"
#include "output/format/text.h"
#include "output/format/tree.h"
#include "tests/catch.h"
#include "tests/output/random_profile.h"
#include "tests/output/text_profile.h"
#include "tests/output/wire_reader.h"

using namespace jitprof;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// "12.000000345" of a listing in seconds, "12" of one in counts.
uint64_t value_of_text(std::string text) {
  std::erase(text, '.');
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CHECK(error == std::errc());
  CHECK(end == text.data() + text.size());
  return value;
}

// Of a listing's lines below its head, the n-th column's sum.
uint64_t sum_of_column(const std::string& listing, unsigned column) {
  uint64_t sum = 0;
  bool in_list = false;
  for (const std::string& line : lines_of(listing)) {
    if (in_list) {
      std::istringstream words(line);
      std::string word;
      for (unsigned index = 0; index <= column; ++index) words >> word;
      sum += value_of_text(word);
    }
    if (line.find("total%") != std::string::npos) in_list = true;
  }
  return sum;
}

uint64_t sum_of_folded(const std::string& text) {
  uint64_t sum = 0;
  for (const std::string& line : lines_of(text)) sum += value_of_text(line.substr(line.rfind(' ') + 1));
  return sum;
}

uint64_t sum_of_page(const std::string& page) {
  size_t start = page.find("\"self\":[") + 8;
  std::istringstream numbers(page.substr(start, page.find(']', start) - start));
  uint64_t sum = 0;
  for (std::string number; std::getline(numbers, number, ',');) sum += value_of_text(number);
  return sum;
}

template <class Write>
std::string written(Write write) {
  std::ostringstream out;
  write(out);
  return out.str();
}

}  // namespace

TEST_CASE("every output sums to its view's total") {
  Profile profile = tests::parse_text_profile(tests::random_text_profile(GENERATE(1u, 2u, 3u)));
  View view;
  view.value = GENERATE(0u, 1u, 2u, 3u);
  view.inlined = GENERATE(true, false);
  if (GENERATE(true, false)) view.tid = 2;
  uint64_t total = 0;
  for (const ProfileRow& row : profile.rows) {
    if (view.passes(profile, row)) total += value_of(profile.value_types[view.value], row);
  }
  REQUIRE(total > 0);

  CHECK(sum_of_folded(written([&](auto& out) { write_folded(profile, view, {.annotate = true}, out); })) ==
        total);
  CHECK(sum_of_column(written([&](auto& out) { write_text(profile, view, {}, out); }), 0) == total);
  CHECK(sum_of_column(written([&](auto& out) { write_tree(profile, view, {}, out); }), 2) == total);
  CHECK(sum_of_page(written([&](auto& out) { write_flamegraph(profile, view, out); })) == total);

  std::string pprof = tests::gunzip(written([&](auto& out) { write_pprof(profile, view, out); }));
  uint64_t sum = 0;
  for (const tests::WireMessage& sample : tests::WireMessage(pprof).messages(2))
    sum += sample.packed(2)[view.value];
  CHECK(sum == total);
}

TEST_CASE("the order of samples changes no output") {
  std::string text = tests::random_text_profile(5);
  Profile profile = tests::parse_text_profile(text);
  Profile other = tests::parse_text_profile(text);
  std::reverse(other.rows.begin(), other.rows.end());
  View view;
  view.value = GENERATE(0u, 1u);
  auto both = [&](auto write) {
    return std::pair(written([&](auto& out) { write(profile, out); }),
                     written([&](auto& out) { write(other, out); }));
  };
  auto [folded, other_folded] = both([&](auto& from, auto& out) { write_folded(from, view, {}, out); });
  auto [listed, other_listed] = both([&](auto& from, auto& out) { write_text(from, view, {}, out); });
  auto [tree, other_tree] = both([&](auto& from, auto& out) { write_tree(from, view, {}, out); });
  auto [pprof, other_pprof] = both([&](auto& from, auto& out) { write_pprof(from, view, out); });
  auto [page, other_page] = both([&](auto& from, auto& out) { write_flamegraph(from, view, out); });
  CHECK(folded == other_folded);
  CHECK(listed == other_listed);
  CHECK(tree == other_tree);
  CHECK(pprof == other_pprof);
  CHECK(page == other_page);
}
