// SPDX-License-Identifier: Apache-2.0
// The walk allocates nothing once its caches are warm: operator new of this whole program counts.
#include <cstdlib>
#include <new>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/own_stack.h"
#include "tests/unwind/unwinding.h"
#include "unwind/walk.h"

namespace {
uint64_t allocations = 0;

void* counted(size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(size_t size) { return counted(size); }
void* operator new[](size_t size) { return counted(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace jitprof {

TEST_CASE("a warm walk allocates nothing") {
  tests::TempDir folder;
  std::string program = folder.file("own_stack");
  tests::compile("gcc", {"-O2"}, {"own_stack/capture.c", "own_stack/main.c"}, program);
  // "realigned" and "signal" have rules that need every register followed.
  for (const char* scenario : {"plain", "recursion", "realigned", "signal"}) {
    INFO(scenario);
    tests::OwnStack own(program, scenario);
    ModuleTable modules("");
    ProcessTable processes(modules);
    for (const MapEvent& event : own.maps) processes.apply(event);
    const Process& process = processes.process(own.sample.pid);
    tests::Unwinding unwinding(modules);
    UnwoundStack stack;
    unwind(own.sample, processes, process, unwinding.places, kDefaultMaxDepth, stack);
    size_t depth = stack.frames.size();

    uint64_t before = allocations;
    unwind(own.sample, processes, process, unwinding.places, kDefaultMaxDepth, stack);
    uint64_t after = allocations;
    CHECK(after == before);
    CHECK(stack.frames.size() == depth);
    CHECK(stack.stop == StopReason::kReachedRoot);
  }
}

}  // namespace jitprof
