// SPDX-License-Identifier: Apache-2.0
// The walk alone: no reading, no names. Usage: unwind-bench FILE [PASSES] walks every sample of a recording
// in memory PASSES times (3) and prints a line a pass in CPU time of its thread: "cold" with nothing known
// (the tables are compiled on the way), then once more "tables-known" with no place remembered, then "warm".
// unwind-bench --tables FILE compiles each module's CFI three times and prints a line a module: name, rows,
// ns a row of the quickest, bytes of table, bytes of .eh_frame.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>

#include "tests/bench/unwind_loaded.h"
#include "unwind/cfi/unwind_table.h"
#include "unwind/walk.h"

namespace jitprof {
namespace {

double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Walks every sample of a recording, and remembers the places it met.
class Walker {
 public:
  Walker(LoadedRecording& loaded, const UnwindTables& tables, const Sniffers& sniffers)
      : loaded_(loaded), places_({loaded.modules(), tables, sniffers}) {}

  void print_pass(const char* name) {
    std::array<uint64_t, kStopReasonCount> stops{};
    uint64_t frames = 0;
    double start = thread_cpu_ns();
    for (const Sample& sample : loaded_.samples()) {
      StopReason stop = walk(sample, loaded_.processes().process(sample.pid), places_,
                             [&frames](Frame, const WalkedFrame&) { ++frames; });
      ++stops[static_cast<unsigned>(stop)];
    }
    double ns = thread_cpu_ns() - start;

    double samples = static_cast<double>(loaded_.samples().size());
    std::printf("%s samples %zu frames %llu (%.1f/sample) %.1f ns/frame %.2f us/sample |", name,
                loaded_.samples().size(), static_cast<unsigned long long>(frames),
                static_cast<double>(frames) / samples, ns / static_cast<double>(frames), ns / 1e3 / samples);
    for (unsigned i = 0; i < kStopReasonCount; ++i) {
      if (stops[i] == 0) continue;
      std::printf(" %s %.2f%%", name_of(static_cast<StopReason>(i)),
                  100.0 * static_cast<double>(stops[i]) / samples);
    }
    std::printf("\n");
  }

 private:
  LoadedRecording& loaded_;
  PlaceCache places_;
};

void print_passes(LoadedRecording& loaded, int passes) {
  UnwindTables tables;
  Sniffers sniffers;
  Walker(loaded, tables, sniffers).print_pass("cold");
  Walker walker(loaded, tables, sniffers);
  walker.print_pass("tables-known");
  for (int i = 1; i < passes; ++i) walker.print_pass("warm");
}

void print_table(const Module& module) {
  const ElfSection* eh_frame = module.elf->find_section(".eh_frame");
  if (eh_frame == nullptr) return;
  double quickest_ns = std::numeric_limits<double>::infinity();
  UnwindTable table;
  for (int build = 0; build < 3; ++build) {
    double start = thread_cpu_ns();
    table = UnwindTable::compile(*module.elf);
    quickest_ns = std::min(quickest_ns, thread_cpu_ns() - start);
  }
  if (table.row_count() == 0) return;
  std::printf("%s %zu %.0f %zu %llu\n", std::string(module.name()).c_str(), table.row_count(),
              quickest_ns / static_cast<double>(table.row_count()), table.bytes(),
              static_cast<unsigned long long>(eh_frame->size));
}

int run(int argc, char** argv) {
  bool tables = argc == 3 && std::strcmp(argv[1], "--tables") == 0;
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s FILE [PASSES]\n       %s --tables FILE\n", argv[0], argv[0]);
    return 2;
  }
  auto loaded = LoadedRecording::load(argv[tables ? 2 : 1]);
  if (!loaded.ok()) {
    std::fprintf(stderr, "unwind-bench: %s\n", loaded.error().message.c_str());
    return 2;
  }
  if (tables) {
    for (const Module& module : loaded.value()->modules().modules()) {
      if (module.elf) print_table(module);
    }
    return 0;
  }
  int passes = argc > 2 ? std::atoi(argv[2]) : 3;
  print_passes(*loaded.value(), passes);
  return 0;
}

}  // namespace
}  // namespace jitprof

int main(int argc, char** argv) { return jitprof::run(argc, argv); }
