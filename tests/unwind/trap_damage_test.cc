// SPDX-License-Identifier: Apache-2.0
// Real stacks, walked with the program's own CFI damaged in a thousand ways.
#include <elf.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/traced_program.h"
#include "tests/unwind/unwinding.h"
#include "tests/unwind/walk_sample.h"

namespace jitprof {
namespace {

using tests::TakenSample;
using tests::TempDir;
using tests::TracedProgram;

constexpr int kRounds = 1000;
constexpr size_t kStackBytes = 128 << 10;
// Room for a sanitizer that keeps what was freed.
constexpr uint64_t kMostMemory = uint64_t{1} << 30;

// What a recording of the program would hold: samples taken on the way through its scenarios.
struct Recorded {
  std::vector<TakenSample> samples;
  std::vector<MapEvent> maps;
};

Recorded record(const std::string& program, const char* scenario) {
  constexpr size_t kEvery = 7;
  Recorded recorded;
  TracedProgram traced({program, scenario});
  REQUIRE(traced.run_to_breakpoint());
  recorded.maps = traced.maps();
  for (size_t i = 0; i < 40 * kEvery; ++i) {
    if (i % kEvery == 0) recorded.samples.push_back(traced.sample(kStackBytes));
    auto step = traced.step();
    if (step == TracedProgram::Step::kBreakpoint || step == TracedProgram::Step::kEnded) break;
  }
  return recorded;
}

uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) << 10;
}

// Numbers of a fixed seed.
class Seeded {
 public:
  uint64_t below(uint64_t limit) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return (state_ >> 33) % limit;
  }

 private:
  uint64_t state_ = 2024;
};

// The file's bytes with a few of its unwind tables' changed.
std::vector<std::byte> damaged(const ElfFile& elf, Seeded& random) {
  std::vector<std::byte> bytes(elf.image().begin(), elf.image().end());
  for (const char* name : {".eh_frame", ".eh_frame", ".eh_frame", ".eh_frame_hdr"}) {
    const ElfSection* section = elf.find_section(name);
    REQUIRE(section != nullptr);
    uint64_t at = section->offset.value + random.below(section->size);
    for (uint64_t i = 0; i < 1 + random.below(4) && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<std::byte>(random.below(256));
    }
  }
  return bytes;
}

// The walks of all samples with one image of the program.
struct Outcome {
  size_t frames = 0;
  size_t rooted = 0;
  size_t empty = 0;
  size_t invented = 0;  // walks with more frames than there are words on the stack
  bool operator==(const Outcome&) const = default;
};
Outcome walk_all(const Recorded& recorded, const std::string& program, const std::vector<std::byte>& image) {
  ModuleTable modules("");
  ProcessTable processes(modules);
  for (const MapEvent& event : recorded.maps) {
    if (event.path != program || !event.is_executable) continue;
    modules.apply(SideFileEvent{.kind = SideFileKind::kModuleImage,
                                .device = makedev(event.device_major, event.device_minor),
                                .inode = event.inode,
                                .path = program,
                                .bytes = image});
  }
  for (const MapEvent& event : recorded.maps) processes.apply(event);
  tests::Unwinding unwinding(modules);
  Outcome outcome;
  for (const TakenSample& taken : recorded.samples) {
    const Process& process = processes.process(taken.sample.pid);
    tests::KeptWalk walk = tests::walk_sample(taken.sample, process, unwinding.places);
    outcome.empty += walk.frames.empty();
    outcome.invented += walk.frames.size() > kStackBytes / sizeof(uint64_t) + 2;
    outcome.frames += walk.frames.size();
    outcome.rooted += walk.stop == StopReason::kReachedRoot;
  }
  return outcome;
}

}  // namespace

TEST_CASE("a thousand damaged unwind tables: no crash, no hang, bounded memory") {
  TempDir folder;
  std::string program = folder.file("scenarios");
  tests::compile("gcc", {"-O2", "-pthread"}, {"traps/scenarios.c"}, program);
  auto elf = ElfFile::open(program);
  REQUIRE(elf.ok());
  std::vector<Recorded> recorded;
  for (const char* scenario : {"qsort", "realigned", "cold", "nested_signal"}) {
    recorded.push_back(record(program, scenario));
  }
  std::vector<std::byte> whole(elf.value().image().begin(), elf.value().image().end());
  std::vector<Outcome> right;
  for (const Recorded& each : recorded) {
    right.push_back(walk_all(each, program, whole));
    CHECK(right.back().rooted > each.samples.size() / 2);
  }
  uint64_t before = peak_memory();
  Seeded random;
  size_t differing = 0, empty = 0, invented = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::byte> image = damaged(elf.value(), random);
    size_t which = static_cast<size_t>(round) % recorded.size();
    Outcome outcome = walk_all(recorded[which], program, image);
    differing += outcome != right[which];
    empty += outcome.empty;
    invented += outcome.invented;
  }
  CHECK(empty == 0);
  CHECK(invented == 0);
  CHECK(differing > kRounds / 10);
  CHECK(peak_memory() - before < kMostMemory);
}

}  // namespace jitprof
