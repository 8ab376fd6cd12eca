// SPDX-License-Identifier: Apache-2.0
#include "output/flamegraph/flamegraph.h"

#include <sstream>

#include "tests/catch.h"
#include "tests/golden.h"
#include "tests/output/text_profile.h"

using namespace jitprof;

namespace {

std::string page(const Profile& profile) {
  std::ostringstream out;
  write_flamegraph(profile, View(), out);
  return out.str();
}

// What stands in the data element.
std::string data_of(const std::string& page) {
  std::string opening = "<script id=\"data\" type=\"application/json\">\n";
  size_t start = page.find(opening);
  REQUIRE(start != std::string::npos);
  start += opening.size();
  return page.substr(start, page.find("</script>", start) - start);
}

unsigned count(const std::string& text, const std::string& part) {
  unsigned found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the page's data look as they did") {
  Profile profile = tests::parse_text_profile(
      "main;run;step_[i];add_[i] 4\nmain;run;compiled_[j] 2\nmain;entry_[k] 1\n[truncated];run 1\n");
  profile.command = "./sample";
  profile.lost = 2;
  CHECK(tests::golden_difference("output/golden/flamegraph.data.json", data_of(page(profile))) == "");
}

TEST_CASE("code of libraries and runtimes is told apart where lines are known") {
  Profile profile = tests::parse_text_profile("main;puts_[l];eval_[r];stub_[r]_[j] 1\n");
  CHECK(data_of(page(profile)).find("\"flags\":[0,8,16,18]") != std::string::npos);
  profile.modules[0].has_lines = false;
  CHECK(data_of(page(profile)).find("\"flags\":[0,0,0,2]") != std::string::npos);
}

TEST_CASE("hostile names stay data") {
  tests::ProfileMaker maker;
  maker.profile.value_types = {{"samples", "count", 0, false}};
  maker.profile.command = "a \"b\" \\ </script><script>alert(1)</script>";
  ProfileFrame frame;
  SourceFrame line;
  line.function =
      maker.function("</script><!--<script>\xe2\x80\xa8\xed\xa0\x80\xff\x01\n\xc3\xa9", "", "", "</SCRIPT >");
  frame.lines.push_back(line);
  maker.rows(maker.stack({}, maker.frame(frame)), maker.thread(1, 1, "x"), 1);
  std::string html = page(maker.profile);
  CHECK(count(html, "<script") == 2);
  CHECK(count(html, "</script>") == 2);
  std::string data = data_of(html);
  CHECK(data.find('<') == std::string::npos);
  CHECK(data.find("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\u0001\\u000a\xc3\xa9\"") !=
        std::string::npos);
  CHECK(data.find("\\u003c/script>\\u003c!--\\u003cscript>\\u2028") != std::string::npos);
  CHECK(data.find("a \\\"b\\\" \\\\ ") != std::string::npos);
}

TEST_CASE("the page asks nothing of a network") {
  std::string html = page(tests::parse_text_profile("main 1\n"));
  for (const char* request : {"http:", "https:", "src=", "href=", "url(", "import(", "fetch("}) {
    INFO(request);
    CHECK(html.find(request) == std::string::npos);
  }
  CHECK(html.find("default-src 'none'; script-src 'sha256-") != std::string::npos);
}

TEST_CASE("an empty profile and a stack of 100,000 frames have a page") {
  CHECK(data_of(page(tests::parse_text_profile(""))).find("\"total\":0,") != std::string::npos);
  std::string stack = "main";
  for (int depth = 1; depth < 100'000; ++depth) stack += ";f";
  std::string data = data_of(page(tests::parse_text_profile(stack + " 2\n")));
  CHECK(data.find(",99998,99999]") != std::string::npos);
}
