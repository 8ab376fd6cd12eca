// SPDX-License-Identifier: Apache-2.0
// Code made at run time among what a process has mapped.
#include "tests/catch.h"
#include "unwind/jit/jit_timeline.h"
#include "unwind/space/process_table.h"

namespace jitprof {
namespace {

constexpr RuntimeAddr kMemory{0x10000};

struct Loading {
  ModuleTable modules{""};
  ProcessTable processes{modules};
  JitTimeline timeline;
  JitLog log;

  Loading() { map("//anon", kMemory, 0x1000); }
  void map(const char* path, RuntimeAddr start, uint64_t size) {
    processes.apply(MapEvent{
        .time_ns = 1, .pid = 7, .tid = 7, .start = start, .size = size, .is_executable = true, .path = path});
  }
  void load(uint64_t time_ns, const char* name, uint64_t offset, uint64_t size) {
    log.codes.push_back(JitCode{.name = name, .size = size});
    change({.time_ns = time_ns,
            .kind = JitChange::Kind::kLoad,
            .code = static_cast<uint32_t>(log.codes.size() - 1),
            .start = kMemory.plus(offset),
            .size = size});
  }
  void change(JitChange change) {
    change.pid = 7;
    log.changes.push_back(change);
  }
  void play_to(uint64_t time_ns) {
    timeline.add(std::move(log));
    log = JitLog();
    if (timeline.is_due(time_ns)) timeline.apply_due(time_ns, processes);
  }
  std::string at(uint64_t offset, uint32_t pid = 7) {
    const Mapping* mapping = processes.process(pid).space.find(kMemory.plus(offset));
    return mapping == nullptr ? "" : std::string(modules.module(mapping->module).name());
  }
};

}  // namespace

TEST_CASE("the newest load counts at its time, and what it leaves of an older one stays") {
  Loading loading;
  loading.load(10, "old", 0, 0x100);
  loading.load(20, "new", 0x40, 0x40);
  loading.play_to(10);
  CHECK(loading.at(0x50) == "old");
  CHECK(loading.at(0x200) == "anon");
  loading.play_to(20);
  CHECK(loading.at(0x3f) == "old");
  CHECK(loading.at(0x50) == "new");
  CHECK(loading.at(0x80) == "old");
}

TEST_CASE("positions in loaded code count from its first byte, also behind a move") {
  Loading loading;
  loading.load(10, "moves", 0x100, 0x40);
  loading.change({.time_ns = 20,
                  .kind = JitChange::Kind::kMove,
                  .start = kMemory.plus(0x100),
                  .moved_to = kMemory.plus(0x300)});
  loading.play_to(20);
  CHECK(loading.at(0x110) == "anon");
  CHECK(loading.at(0x310) == "moves");
  const Mapping* mapping = loading.processes.process(7).space.find(kMemory.plus(0x310));
  CHECK(mapping->bias.to_elf(kMemory.plus(0x310)) == ElfAddr{0x10});
}

TEST_CASE("an unload that names its code leaves alone what has taken the place") {
  Loading loading;
  loading.load(10, "first", 0, 0x40);
  loading.load(20, "second", 0, 0x40);
  loading.change(
      {.time_ns = 30, .kind = JitChange::Kind::kUnload, .code = 0, .start = kMemory, .size = 0x40});
  loading.change({.time_ns = 40, .kind = JitChange::Kind::kUnload, .start = kMemory, .size = 0x40});
  loading.play_to(30);
  CHECK(loading.at(0) == "second");
  loading.play_to(40);
  CHECK(loading.at(0) == "anon");
}

TEST_CASE("memory that is mapped again over loaded code hides nothing; a file does, and exec clears all") {
  Loading loading;
  loading.load(10, "code", 0, 0x40);
  loading.play_to(10);
  loading.map("//anon", kMemory, 0x1000);
  loading.map("/memfd:doublemapper (deleted)", kMemory, 0x1000);
  CHECK(loading.at(0) == "code");
  loading.map("/usr/lib/none.so", kMemory, 0x1000);
  CHECK(loading.at(0) == "none.so");
  loading.map("//anon", kMemory, 0x1000);
  CHECK(loading.at(0) == "anon");
  loading.load(20, "again", 0, 0x40);
  loading.play_to(20);
  loading.processes.apply(CommEvent{.time_ns = 30, .pid = 7, .tid = 7, .comm = "x", .is_exec = true});
  CHECK(loading.at(0) == "");
}

TEST_CASE("a name for code of a live file is kept with the file") {
  Loading loading;
  loading.map("/usr/lib/none.so", kMemory, 0x1000);
  loading.load(10, "Builtin:ArrayMap", 0x10, 0x20);
  loading.play_to(10);
  CHECK(loading.at(0x10) == "none.so");
  const Mapping* mapping = loading.processes.process(7).space.find(kMemory);
  const Module& file = loading.modules.module(mapping->module);
  REQUIRE(file.published_names.size() == 1);
  CHECK(file.published_names.begin()->second.name == "Builtin:ArrayMap");
}

TEST_CASE("a forked child has what was loaded before the fork") {
  Loading loading;
  loading.load(10, "before", 0, 0x40);
  loading.load(30, "after", 0x100, 0x40);
  loading.play_to(20);
  loading.processes.apply(ForkEvent{.time_ns = 20, .pid = 8, .tid = 8, .parent_pid = 7, .parent_tid = 7});
  loading.play_to(30);
  CHECK(loading.at(0, 8) == "before");
  CHECK(loading.at(0x100, 8) == "anon");
  CHECK(loading.at(0x100, 7) == "after");
}

}  // namespace jitprof
