// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/jitprof_command.h"

#include <cstdlib>

#include "tests/catch.h"

namespace jitprof::tests {

ProgramResult jitprof(const std::vector<std::string>& arguments, const std::string& directory) {
  std::vector<std::string> words = {JP_JITPROF};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words, directory);
}

std::string jitprof_output(const std::vector<std::string>& arguments) {
  ProgramResult result = jitprof(arguments);
  INFO(result.err);
  REQUIRE(result.status == 0);
  return result.out;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start <= text.size()) {
    size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<FoldedStack> parse_folded(const std::string& text) {
  std::vector<FoldedStack> stacks;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty()) continue;
    size_t space = line.rfind(' ');
    REQUIRE(space != std::string::npos);
    stacks.push_back(
        {split(line.substr(0, space), ';'), std::strtoull(line.c_str() + space + 1, nullptr, 10)});
  }
  return stacks;
}

std::vector<FoldedStack> folded(const std::string& recording, const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"report", "-f", "folded"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(recording);
  return parse_folded(jitprof_output(arguments));
}

uint64_t total(const std::vector<FoldedStack>& stacks) {
  uint64_t sum = 0;
  for (const FoldedStack& stack : stacks) sum += stack.value;
  return sum;
}

uint64_t recorded_samples(const std::string& recording) {
  for (const std::string& line : split(jitprof_output({"info", recording}), '\n')) {
    if (line.starts_with("samples: ")) return std::strtoull(line.c_str() + 9, nullptr, 10);
  }
  return 0;
}

}  // namespace jitprof::tests
