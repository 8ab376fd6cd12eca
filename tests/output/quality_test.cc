// SPDX-License-Identifier: Apache-2.0
#include "output/format/quality.h"

#include <sstream>

#include "output/completeness.h"
#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/output/text_profile.h"

using namespace jitprof;
using tests::golden_difference;
using tests::parse_text_profile;

namespace {

constexpr const char* kSample =
    "main;work 90\n"
    "[truncated];work;deep 5\n"
    "[no unwind info];handwritten 3\n"
    "[no unwind info];compiled_[j];main 2\n"
    "[unmapped] 1\n"
    "@7/8 second\n"
    "[truncated];work 4\n"
    "@7/7 server\n"
    "[truncated];deep 2\n"
    "[recorded chain ends];read_[k] 2\n"
    "#event 1\n"
    "[truncated];work 50\n";

Profile sample_profile() {
  Profile profile = parse_text_profile(kSample);
  profile.command = "./server";
  profile.stack_size = 4096;
  profile.lost = 3;
  profile.shortfalls["answers of sniffer 'toy' with a CFA that does not grow, not taken"] = 12;
  profile.modules = {{.path = "/usr/bin/server"},
                     {.path = "/opt/gone.so", .problem = Module::Problem::kMissing}};
  for (ProfileFrame& frame : profile.frames) {
    bool is_handwritten = profile.names.name(frame.lines.back().function) == "handwritten";
    if (frame.kind == ProfileFrame::Kind::kNative) frame.module = {is_handwritten ? 1u : 0u};
  }
  profile.sniffer_names = {"cfi", "frame-pointer", "toy"};
  profile.unwinding.top = 110;
  profile.unwinding.by_sniffer[0] = 2000;
  profile.unwinding.by_sniffer[2] = 20;
  profile.unwinding.following_no_call = {{ModuleId{0}, 1}, {ModuleId{1}, 7}};
  return profile;
}

std::string quality(const Profile& profile, const View& view, const TextOptions& options = {}) {
  std::ostringstream out;
  write_quality(profile, view, options, out);
  return out.str();
}

}  // namespace

TEST_CASE("the quality of a profile looks as it did") {
  Profile profile = sample_profile();
  CHECK(golden_difference("output/golden/quality", quality(profile, View())) == "");
  CHECK(golden_difference("output/golden/quality.offset-1.limit-2",
                          quality(profile, View(), {.offset = 1, .limit = 2})) == "");
}

TEST_CASE("quality looks at the view's stacks") {
  Profile profile = sample_profile();
  View view;
  view.pid = 7;
  CHECK(quality(profile, view).find("complete: 0 of 8 stacks (0.00 %)\n") != std::string::npos);
  view = {.value = 1, .comm = "main"};  // by period: stacks are counted all the same
  CHECK(quality(profile, view)
            .find("total: 101 samples, only threads named 'main'\ncomplete: 90 of 101 stacks") !=
        std::string::npos);
  view = {.value = 3};
  CHECK(quality(profile, view).find("complete: 0 of 50 stacks") != std::string::npos);
}

TEST_CASE("a perfect profile and an empty one have no table") {
  for (const char* text : {"main;f 3\n", ""}) {
    std::string listing = quality(parse_text_profile(text), View());
    CHECK(listing.find("kinds of incomplete stacks: 0\n") != std::string::npos);
    CHECK(listing.find("what helps") == std::string::npos);
  }
}

TEST_CASE("stacks are counted by how they end") {
  Profile profile = sample_profile();
  Completeness counts = count_complete(profile, View());
  CHECK(counts.stacks == 109);
  CHECK(counts.complete() == 90);
  CHECK(counts.count(StopReason::kTruncated) == 11);
  CHECK(counts.count(StopReason::kUnmapped) == 1);
  std::vector<StackEnd> ends = find_stack_ends(profile);
  CHECK(profile.names.name(
            profile.frames[ends[profile.rows[90].stack.index].outermost.index].lines[0].function) == "work");
  CHECK(ends[profile.rows[100].stack.index].outermost.is_none());
}
