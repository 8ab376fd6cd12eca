// SPDX-License-Identifier: Apache-2.0
// unwind-oracle RECORDING…: unwinds every sample with libdwfl too and prints, for each recording (of jitprof
// or perf.data), how the frames compare. Ends with 1 when a difference is unexplained.
#include <cinttypes>
#include <cstdio>

#include "tests/unwind/oracle_comparison.h"
#include "tests/unwind/play_samples.h"

namespace jitprof {
namespace {

// Whether the recording could be read and nothing in it is unexplained.
bool compare(const char* file) {
  Result<Recording> recording = Recording::open(file);
  if (!recording.ok()) {
    std::fprintf(stderr, "unwind-oracle: %s\n", recording.error().message.c_str());
    return false;
  }
  ModuleTable modules("");
  tests::OracleComparison comparison(modules);
  auto add = [&](const Sample& sample, const Process& process) { comparison.add(sample, process); };
  Status played = tests::play_samples(recording.value(), modules, add);
  if (!played.ok()) std::fprintf(stderr, "unwind-oracle: %s\n", played.error().message.c_str());

  std::printf("%s: %" PRIu64 " samples, %" PRIu64 " frames equal\n", file, comparison.samples(),
              comparison.frames());
  for (const auto& [agreement, count] : comparison.counts()) {
    std::printf("%10" PRIu64 "  %s\n", count, tests::name_of(agreement));
  }
  for (const auto& [end, count] : comparison.ends()) {
    std::printf("%10" PRIu64 "  there we: %s\n", count, end.c_str());
  }
  for (const std::string& text : comparison.unexplained()) std::printf("    %s\n", text.c_str());
  return played.ok() && comparison.count(tests::Agreement::kUnexplained) == 0;
}

}  // namespace
}  // namespace jitprof

int main(int argc, char** argv) {
  bool is_explained = true;
  for (int i = 1; i < argc; ++i) is_explained &= jitprof::compare(argv[i]);
  return is_explained ? 0 : 1;
}
