// SPDX-License-Identifier: Apache-2.0
#include "output/view.h"

#include "tests/catch.h"
#include "tests/output/text_profile.h"

using namespace jitprof;
using tests::parse_text_profile;

namespace {

// "main;a;b(1)": the number is the depth of inlining.
std::string text_of(const Profile& profile, const View& view, StackId stack) {
  std::vector<ShownFrame> shown;
  expand(profile, view, stack, shown);
  std::string text;
  for (const ShownFrame& frame : shown) {
    text += (text.empty() ? "" : ";") + std::string(profile.names.name(frame.function));
    if (frame.depth_inlined > 0) text += "(" + std::to_string(frame.depth_inlined) + ")";
  }
  return text;
}

uint64_t sum(const std::vector<WeightedStack>& stacks) {
  uint64_t total = 0;
  for (const WeightedStack& stack : stacks) total += stack.weight;
  return total;
}

}  // namespace

TEST_CASE("expand goes from the root to the innermost inlined function") {
  Profile profile = parse_text_profile("main;work;step_[i];add_[i];libc 1\n");
  View view;
  StackId stack = aggregate(profile, view).front().stack;
  CHECK(text_of(profile, view, stack) == "main;work;step(1);add(2);libc");
  view.inlined = false;
  CHECK(text_of(profile, view, stack) == "main;work;libc");
}

TEST_CASE("a view sums its own event's rows that pass all filters") {
  Profile profile = parse_text_profile(
      "@1/1 main\nmain;a 3\n@1/2 worker\nmain;a 4\n@2/3 worker\nmain 5\n#event 1\nmain;a 9\n");
  View view;
  CHECK(sum(aggregate(profile, view)) == 12);
  view.pid = 1;
  CHECK(sum(aggregate(profile, view)) == 7);
  view.comm = "worker";
  CHECK(sum(aggregate(profile, view)) == 4);
  view.tid = 1;
  CHECK(aggregate(profile, view).empty());
}

TEST_CASE("values are counts or sums of periods") {
  Profile profile = parse_text_profile("main 3\n#event 1\nmain 2\n");
  View view;
  view.value = find_value_type(profile, "cpu").value();
  CHECK(sum(aggregate(profile, view)) == 1'000'000 + 1'000'001 + 1'000'002);
  view.value = find_value_type(profile, "cycles").value();
  CHECK(sum(aggregate(profile, view)) == 1'000'003 + 1'000'004);
  CHECK(find_value_type(profile, "wall").error().message ==
        "there is no value 'wall' in this profile; it has: samples, cpu, cycles.samples, cycles");
}
