// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "output/format/folded.h"
#include "output/format/text.h"
#include "output/format/tree.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/output/text_profile.h"

using namespace jitprof;
using tests::golden_difference;
using tests::parse_text_profile;

namespace {

constexpr const char* kSample =
    "main;run;step_[i];add_[i] 40\n"
    "main;run;step_[i] 12\n"
    "main;run 3\n"
    "main;run;compiled_[j];helper_[i] 8\n"
    "main;read;entry_[k];copy_[k];lock_[i] 6\n"
    "main;walk;walk;walk 5\n"
    "main;walk;walk 2\n"
    "[truncated];walk;walk 4\n"
    "[no unwind info];odd 1\n";

Profile sample_profile() {
  Profile profile = parse_text_profile(kSample);
  profile.command = "./sample --fast";
  return profile;
}

std::string folded(const Profile& profile, const View& view, const FoldedOptions& options) {
  std::ostringstream out;
  write_folded(profile, view, options, out);
  return out.str();
}

std::string text(const Profile& profile, const View& view, const TextOptions& options) {
  std::ostringstream out;
  write_text(profile, view, options, out);
  return out.str();
}

std::string tree(const Profile& profile, const View& view, const TextOptions& options) {
  std::ostringstream out;
  write_tree(profile, view, options, out);
  return out.str();
}

std::string lines_after_head(const std::string& listing) { return listing.substr(listing.find("\n\n") + 2); }

}  // namespace

// A golden's name is what is asked: FORMAT.OPTIONS.
TEST_CASE("listings look as they did") {
  Profile profile = sample_profile();
  View inlined, physical, cpu;
  physical.inlined = false;
  cpu.value = 1;
  CHECK(golden_difference("output/golden/folded", folded(profile, inlined, {})) == "");
  CHECK(golden_difference("output/golden/folded.annotate", folded(profile, inlined, {.annotate = true})) ==
        "");
  CHECK(golden_difference("output/golden/folded.no-inline", folded(profile, physical, {})) == "");
  CHECK(golden_difference("output/golden/folded.value-cpu", folded(profile, cpu, {})) == "");
  CHECK(golden_difference("output/golden/text", text(profile, inlined, {})) == "");
  CHECK(golden_difference("output/golden/text.no-inline", text(profile, physical, {})) == "");
  CHECK(golden_difference("output/golden/text.value-cpu", text(profile, cpu, {})) == "");
  CHECK(golden_difference("output/golden/text.offset-2.limit-3",
                          text(profile, inlined, {.offset = 2, .limit = 3})) == "");
  CHECK(golden_difference("output/golden/tree", tree(profile, inlined, {})) == "");
  CHECK(golden_difference("output/golden/tree.no-inline", tree(profile, physical, {})) == "");
  CHECK(golden_difference("output/golden/tree.offset-3.limit-4",
                          tree(profile, inlined, {.offset = 3, .limit = 4})) == "");
}

TEST_CASE("annotated folded stacks say what was read") {
  // kSample's own notation is the annotated format.
  std::string annotated = folded(sample_profile(), View(), {.annotate = true});
  CHECK(folded(parse_text_profile(annotated), View(), {.annotate = true}) == annotated);
}

TEST_CASE("folded names hold no separators, and equal texts are one line") {
  tests::ProfileMaker maker;
  maker.profile.value_types = {{"samples", "count", 0, false}};
  ProfileThreadId thread = maker.thread(1, 1, "main");
  for (const char* file : {"a.cc", "b.cc"}) {
    ProfileFrame frame;
    SourceFrame line;
    line.function = maker.function("odd;name\nof\tlines", "odd(char)", "", file);
    frame.lines.push_back(line);
    maker.rows(maker.stack({}, maker.frame(frame)), thread, 2);
  }
  CHECK(folded(maker.profile, View(), {}) == "odd:name of lines 4\n");
  CHECK(folded(maker.profile, View(), {.signatures = true}) == "odd(char) 4\n");
}

TEST_CASE("functions of one name are listed apart") {
  tests::ProfileMaker maker;
  maker.profile.value_types = {{"samples", "count", 0, false}};
  maker.profile.modules.push_back({.path = "/usr/lib/libm.so.6"});
  ProfileThreadId thread = maker.thread(1, 1, "main");
  for (const char* file : {"a.cc", "b.cc", ""}) {
    ProfileFrame frame;
    frame.module = {0};
    SourceFrame line;
    line.function = maker.function("init", "init(int)", "", file, *file != 0 ? 7 : 0);
    frame.lines.push_back(line);
    maker.rows(maker.stack({}, maker.frame(frame)), thread, 1);
  }
  CHECK(lines_after_head(text(maker.profile, View(), {.signatures = true})) ==
        "    self   self%     total  total%  function\n"
        "       1   33.33         1   33.33  init(int) (a.cc:7)\n"
        "       1   33.33         1   33.33  init(int) (b.cc:7)\n"
        "       1   33.33         1   33.33  init(int) (/usr/lib/libm.so.6)\n");
}

TEST_CASE("pages joined are the whole list") {
  Profile profile = sample_profile();
  for (auto list : {text, tree}) {
    std::string whole = lines_after_head(list(profile, View(), {}));
    std::string head = whole.substr(0, whole.find('\n') + 1);
    std::string joined = head;
    for (uint64_t offset = 0; offset < 40; offset += 3) {
      joined += lines_after_head(list(profile, View(), {.offset = offset, .limit = 3})).substr(head.size());
    }
    CHECK(joined == whole);
  }
}

TEST_CASE("a page past the end still tells the list's length") {
  std::string page = text(sample_profile(), View(), {.offset = 1000, .limit = 5});
  CHECK(page.find("functions: 14, none of them on this page\n") != std::string::npos);
}

TEST_CASE("an empty view lists nothing") {
  View view;
  view.pid = 99;
  CHECK(folded(sample_profile(), view, {}).empty());
  CHECK(text(sample_profile(), view, {}).find("total: 0 samples, only process 99\nfunctions: 0\n") !=
        std::string::npos);
  CHECK(tree(sample_profile(), view, {}).find("frames: 0\n") != std::string::npos);
}

TEST_CASE("a stack of 100,000 frames is listed") {
  std::string stack = "main";
  for (int depth = 1; depth < 100'000; ++depth) stack += ";f";
  Profile profile = parse_text_profile(stack + " 2\n");
  CHECK(folded(profile, View(), {}) == stack + " 2\n");
  CHECK(lines_after_head(text(profile, View(), {})).find("       2  100.00         2  100.00  f\n") !=
        std::string::npos);
  std::string last = tree(profile, View(), {.offset = 99'999});
  CHECK(last.ends_with(" #99999 f\n"));
}
