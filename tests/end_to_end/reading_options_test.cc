// SPDX-License-Identifier: Apache-2.0
// The options with which recordings are read: by how many threads, by whom, how deep, with which names.
#include <algorithm>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string build_threads(const TempDir& folder) {
  std::string output = folder.file("threads");
  compile("g++", {"-std=c++20", "-O2", "-g", "-fomit-frame-pointer", "-pthread"}, {"threads.cc"}, output);
  return output;
}

std::string record_threads(const TempDir& folder) {
  std::string recording = folder.file("recording");
  jitprof_output({"record", "--stack-size", "16384", "-o", recording, build_threads(folder), "2"});
  return recording;
}

}  // namespace

TEST_CASE("any number of jobs gives the same bytes") {
  TempDir folder;
  std::string recording = folder.file("recording");
  std::string program = build_threads(folder);
  std::string forks = "for i in 1 2 3 4 5 6; do " + program + " 0.3 & done; wait; ls -lR /usr/lib >/dev/null";
  switch (GENERATE(0, 1, 2)) {
    case 0:
      jitprof_output({"record", "--stack-size", "8192", "-o", recording, "sh", "-c", forks});
      break;
    case 1:
      jitprof_output({"record", "--stack-size", "65528", "-o", recording, program, "2"});
      break;
    default:
      REQUIRE(run_program({"perf", "record", "-q", "-e", "cpu-clock", "--call-graph", "dwarf,16384", "-o",
                           recording, "sh", "-c", forks})
                  .status == 0);
  }
  std::vector<std::vector<std::string>> reports = {{"-f", "folded", "--annotate"},
                                                   {"-f", "pprof", "--names", "module"},
                                                   {"--quality"},
                                                   {"-f", "tree", "--max-depth", "7"}};
  for (std::vector<std::string> report : reports) {
    report.insert(report.begin(), "report");
    report.push_back(recording);
    std::string first;
    for (const char* jobs : {"1", "2", "3", "8"}) {
      INFO(report[2] << " with " << jobs);
      report.insert(report.end() - 1, {"--jobs", jobs});
      ProgramResult result = jitprof(report);
      report.erase(report.end() - 3, report.end() - 1);
      REQUIRE(result.status == 0);
      if (first.empty()) first = result.out + result.err;
      CHECK(result.out + result.err == first);
    }
  }
}

TEST_CASE("of deep stacks both ends are kept") {
  TempDir folder;
  std::string recording = record_threads(folder);
  std::vector<FoldedStack> whole = folded(recording, {"--no-inline"});
  std::vector<FoldedStack> cut = folded(recording, {"--no-inline", "--max-depth", "5"});
  CHECK(total(cut) == total(whole));
  uint64_t with_gap = 0;
  for (const FoldedStack& stack : cut) {
    auto gap =
        std::ranges::find_if(stack.frames, [](const auto& name) { return name.starts_with("[elided "); });
    // A bracket frame at the root may come on top.
    CHECK(stack.frames.size() <= 7);
    if (gap == stack.frames.end()) continue;
    with_gap += stack.value;
    CHECK(stack.frames.end() - gap == 4);
  }
  CHECK(with_gap > 100);

  // A stack that is cut counts as complete all the same.
  auto complete_of = [&](const std::string& depth) {
    std::string quality = jitprof_output({"report", "--quality", "--max-depth", depth, recording});
    size_t place = quality.find("complete: ");
    return quality.substr(place, quality.find('\n', place) - place);
  };
  CHECK(complete_of("5") == complete_of("100000"));

  std::string script = jitprof_output({"script", "--max-depth", "5", recording});
  CHECK(contains(script, "        [elided "));
  CHECK(contains(script, "[root]"));
}

TEST_CASE("module names open no symbols and keep every sample") {
  TempDir folder;
  std::string recording = record_threads(folder);
  ProgramResult result = jitprof({"report", "-f", "folded", "--annotate", "--names", "module", recording});
  REQUIRE(result.status == 0);
  std::vector<FoldedStack> stacks = parse_folded(result.out);
  CHECK(total(stacks) == recorded_samples(recording));
  for (const FoldedStack& stack : stacks) {
    for (const std::string& frame : stack.frames) {
      INFO(frame);
      CHECK((contains(frame, "+0x") || frame.starts_with("0x") || frame.starts_with("[")));
    }
  }
  CHECK(contains(result.out, "threads+0x"));
  std::string script = jitprof_output({"script", "--names", "module", recording});
  CHECK(contains(script, " threads+0x"));
  CHECK_FALSE(contains(script, "(inlined)"));
}

TEST_CASE("script tells per frame how it was found") {
  TempDir folder;
  std::string recording = record_threads(folder);
  std::string plain = jitprof_output({"script", recording});
  std::string verbose = jitprof_output({"script", "--verbose", recording});
  std::string without_details;
  uint64_t by_cfi = 0, rules = 0;
  for (const std::string& line : split(verbose, '\n')) {
    if (line.starts_with("          pc=0x")) {
      CHECK(contains(line, " by="));
      by_cfi += contains(line, " by=cfi");
      rules += contains(line, " rule: cfa=");
    }
    bool is_detail = line.starts_with("          pc=0x") || line.starts_with("        stack 0x") ||
                     contains(line, " rip=0x");
    if (!is_detail) without_details += line + "\n";
  }
  CHECK(by_cfi > 1000);
  CHECK(rules > 1000);
  // split sees one more, empty line behind the last.
  CHECK(without_details == plain + "\n");
}

TEST_CASE("sniffers are listed and disabled by name") {
  std::string list = jitprof_output({"info", "--sniffers"});
  CHECK(contains(list, "object-file    cfi "));
  CHECK(contains(list, "global         frame-pointer "));
  CHECK(list.find("cfi") < list.find("prologue"));
  CHECK(list.find("prologue") < list.find("frame-pointer"));
  CHECK_FALSE(contains(list, " no\n"));
  CHECK(contains(jitprof_output({"info", "--sniffers", "--disable-sniffer", "cfi"}), " no\n"));

  TempDir folder;
  std::string recording = record_threads(folder);
  std::string quality = jitprof_output({"report", "--quality", "--disable-sniffer", "cfi", recording});
  CHECK_FALSE(contains(quality, "  cfi\n"));
  CHECK(contains(quality, "no_unwind_info"));
  CHECK_FALSE(
      contains(jitprof_output({"script", "--verbose", "--disable-sniffer", "cfi", recording}), "by=cfi"));
}

TEST_CASE("reading options out of their bounds are refused") {
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{"--jobs", "0"},
                             {"--jobs", "257"},
                             {"--jobs", "-1"},
                             {"--max-depth", "1"},
                             {"--names", "short"},
                             {"--disable-sniffer", "nobody"},
                             {"--sniffer", "/no/such.so"}}) {
    for (const char* command : {"report", "script"}) {
      Words line = words;
      line.insert(line.begin(), command);
      line.push_back("/no/such/file");
      ProgramResult result = jitprof(line);
      INFO(command << " " << words[0] << " " << words[1] << ": " << result.err);
      CHECK(result.status == 2);
      CHECK(contains(result.err, words[0] == "--sniffer" ? "/no/such.so" : words[1]));
    }
  }
  CHECK(contains(jitprof({"report", "--disable-sniffer", "nobody"}).err, "info --sniffers"));
  CHECK(jitprof({"info", "--sniffers", "/no/such/file"}).status == 2);
}

}  // namespace jitprof::tests
