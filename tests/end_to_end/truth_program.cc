// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/truth_program.h"

#include <filesystem>
#include <set>

#include "tests/end_to_end/jitprof_command.h"
#include "tests/run_program.h"

namespace jitprof::tests {

std::string build_truth(const std::string& compiler, const TempDir& folder, const std::string& more_flags) {
  std::set<std::string> sources;
  for (const auto& entry : std::filesystem::directory_iterator(JP_SOURCE_ROOT "/tests/programs/truth")) {
    if (entry.path().extension() == ".cc") sources.insert(entry.path().string());
  }
  std::vector<std::string> flags = {"-std=c++20", "-O2", "-g", "-pthread"};
  if (!more_flags.empty()) {
    for (const std::string& flag : split(more_flags, ' ')) flags.push_back(flag);
  }
  std::string output = folder.file("truth-" + compiler);
  compile(compiler == "clang" ? "clang++-16" : "g++", flags, {sources.begin(), sources.end()}, output);
  return output;
}

}  // namespace jitprof::tests
