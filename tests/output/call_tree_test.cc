// SPDX-License-Identifier: Apache-2.0
#include "output/call_tree.h"

#include "tests/catch.h"
#include "tests/output/random_profile.h"
#include "tests/output/text_profile.h"

using namespace jitprof;
using tests::parse_text_profile;

namespace {

const FunctionSum& sum_of(const Profile& profile, const std::vector<FunctionSum>& sums,
                          std::string_view name) {
  for (const FunctionSum& sum : sums) {
    if (profile.names.name(sum.function) == name) return sum;
  }
  FAIL("no function " << name);
  return sums.front();
}

}  // namespace

TEST_CASE("a call tree stands in preorder with the heaviest child first") {
  Profile profile = parse_text_profile("main;a;x 1\nmain;b 5\nmain;a;y 2\nmain 1\nstart 20\n");
  CallTree tree = build_call_tree(profile, View());
  std::string text;
  for (const CallNode& node : tree.nodes) {
    text += std::string(profile.names.name(node.function)) + "/" + std::to_string(node.level) + "/" +
            std::to_string(node.self) + "/" + std::to_string(node.total) + "/" + std::to_string(node.end) +
            " ";
  }
  CHECK(text == "start/0/20/20/1 main/0/1/9/6 b/1/5/5/3 a/1/0/3/6 y/2/2/2/5 x/2/1/1/6 ");
  CHECK(tree.total == 29);
}

TEST_CASE("a function inlined and called below one caller is two nodes and one function") {
  Profile profile = parse_text_profile("main;f_[i] 1\nmain;f 2\n");
  CallTree tree = build_call_tree(profile, View());
  REQUIRE(tree.nodes.size() == 3);
  CHECK_FALSE(tree.nodes[1].inlined);
  CHECK(tree.nodes[2].inlined);
  std::vector<FunctionSum> sums = sum_functions(profile, tree);
  REQUIRE(sums.size() == 2);
  CHECK(sum_of(profile, sums, "f").self == 3);
}

TEST_CASE("recursion counts once in total") {
  Profile profile = parse_text_profile("main;f;g;f;f 4\nmain;f 1\n");
  std::vector<FunctionSum> sums = sum_functions(profile, build_call_tree(profile, View()));
  CHECK(sum_of(profile, sums, "f").self == 5);
  CHECK(sum_of(profile, sums, "f").total == 5);
  CHECK(sum_of(profile, sums, "g").total == 4);
}

TEST_CASE("without inlined functions their values are their physical function's") {
  Profile profile = parse_text_profile("main;work;step_[i] 3\nmain;work 2\nmain;work;add_[i] 1\n");
  View view;
  view.inlined = false;
  std::vector<FunctionSum> sums = sum_functions(profile, build_call_tree(profile, view));
  REQUIRE(sums.size() == 2);
  CHECK(sum_of(profile, sums, "work").self == 6);
}

TEST_CASE("every call tree sums to its view") {
  unsigned seed = GENERATE(1u, 2u, 3u, 4u);
  View view;
  view.value = GENERATE(0u, 1u, 2u, 3u);
  view.inlined = GENERATE(true, false);
  Profile profile = parse_text_profile(tests::random_text_profile(seed));
  CallTree tree = build_call_tree(profile, view);
  uint64_t total = 0, roots = 0, self = 0, by_function = 0;
  for (const WeightedStack& stack : aggregate(profile, view)) total += stack.weight;
  for (const CallNode& node : tree.nodes) {
    self += node.self;
    if (node.level == 0) roots += node.total;
  }
  for (const FunctionSum& sum : sum_functions(profile, tree)) by_function += sum.self;
  CHECK(tree.total == total);
  CHECK(roots == total);
  CHECK(self == total);
  CHECK(by_function == total);
}
