// SPDX-License-Identifier: Apache-2.0
#include "output/footer.h"

#include "tests/catch.h"
#include "tests/output/text_profile.h"

using namespace jitprof;
using tests::parse_text_profile;

TEST_CASE("a whole profile has no footer") {
  CHECK(footer_lines(parse_text_profile("main;f 3\n"), View()).empty());
}

TEST_CASE("the footer counts incomplete stacks of the view by reason") {
  Profile profile =
      parse_text_profile("main;f 5\n[no unwind info];g 1\n[truncated];f;g 3\n@7/7 x\n[truncated] 1\n");
  CHECK(footer_lines(profile, View()) ==
        std::vector<std::string>{"5 of 10 stacks (50.0 %) are incomplete: 4 truncated (record with a larger "
                                 "--stack-size; with perf: --call-graph dwarf,SIZE), 1 no unwind info"});
  View view;
  view.pid = 1;
  CHECK(footer_lines(profile, view) ==
        std::vector<std::string>{"4 of 9 stacks (44.4 %) are incomplete: 3 truncated (record with a larger "
                                 "--stack-size; with perf: --call-graph dwarf,SIZE), 1 no unwind info"});
}

TEST_CASE("the footer tells lost records and shortfalls") {
  Profile profile = parse_text_profile("main 1\n");
  profile.lost = 12;
  profile.shortfalls["torn last chunk"] = 1;
  CHECK(footer_lines(profile, View()) ==
        std::vector<std::string>{
            "12 records were lost while recording (not in any total): record with a lower -F or "
            "a smaller --stack-size",
            "torn last chunk"});
}

TEST_CASE("the footer names the stack size that was too small") {
  Profile profile = parse_text_profile("[truncated];f 1\n[recorded chain ends];f 1\n");
  profile.stack_size = 4096;
  CHECK(
      footer_lines(profile, View()) ==
      std::vector<std::string>{
          "2 of 2 stacks (100.0 %) are incomplete: 1 truncated (record with a larger --stack-size than 4096, "
          "up to 65528; with perf: --call-graph dwarf,SIZE), 1 recorded chain ends (record with --call-graph "
          "stack; with perf: --call-graph dwarf)"});
  profile.stack_size = 65528;
  CHECK(footer_lines(profile, View()).front().find("deeper than the 65528 bytes") != std::string::npos);
}
