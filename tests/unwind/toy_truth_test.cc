// SPDX-License-Identifier: Apache-2.0
// The toy JIT's own truth, on which other tests rest: its code runs step by step, and at each instruction the
// CFA and the caller's rbp are where the toy says.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/catch.h"
#include "tests/programs/toy_jit/methods.h"

namespace jitprof::tests {
namespace {

struct Placed {
  const toy::Method* method = nullptr;
  uint64_t start = 0;
  uint64_t cfa = 0;  // of the call that runs
  uint64_t rbp = 0;  // its caller's
};

// Read and written by the handler.
std::array<Placed, 3> placed;
volatile bool is_stepping = false;
uint64_t steps = 0;
uint64_t wrong_steps = 0;

uint64_t word_at(uint64_t position) { return *reinterpret_cast<const uint64_t*>(position); }

void check_step(Placed& code, uint64_t offset, const greg_t* registers) {
  auto rsp = static_cast<uint64_t>(registers[REG_RSP]), rbp = static_cast<uint64_t>(registers[REG_RBP]);
  if (offset == 0) {
    code.cfa = rsp + 8;
    code.rbp = rbp;
  }
  const std::vector<toy::Instruction>& truth = code.method->instructions();
  auto after = std::upper_bound(truth.begin(), truth.end(), offset,
                                [](uint64_t at, const toy::Instruction& each) { return at < each.offset; });
  const toy::Instruction& instruction = after[-1];
  const toy::FrameState& frame = instruction.frame;
  uint64_t cfa = (frame.by_rbp ? rbp : rsp) + static_cast<uint64_t>(int64_t{frame.cfa_offset});
  bool is_right =
      instruction.offset == offset && cfa == code.cfa &&
      (frame.rbp_offset == 0 ? rbp : word_at(cfa + static_cast<uint64_t>(int64_t{frame.rbp_offset}))) ==
          code.rbp;
  ++steps;
  if (!is_right) ++wrong_steps;
}

// Comes before every instruction while the trap flag is set.
void on_step(int, siginfo_t*, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  auto pc = static_cast<uint64_t>(registers[REG_RIP]);
  for (Placed& code : placed) {
    uint64_t offset = pc - code.start;
    if (offset < code.method->bytes().size()) check_step(code, offset, registers);
  }
  constexpr greg_t kTrapFlag = 0x100;
  if (is_stepping) {
    registers[REG_EFL] |= kTrapFlag;
  } else {
    registers[REG_EFL] &= ~kTrapFlag;
  }
}

void callback() {}

}  // namespace

TEST_CASE("the toy JIT tells the truth of its frames") {
  bool only_frame_pointers = GENERATE(false, true);
  const void* middle_slot = nullptr;
  const void* leaf_slot = nullptr;
  toy::Chain chain = toy::make_chain(only_frame_pointers, 3, reinterpret_cast<const void*>(callback),
                                     &middle_slot, &leaf_slot);
  auto* memory = static_cast<uint8_t*>(
      mmap(nullptr, 0x3000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  const toy::Method* methods[] = {&chain.outer, &chain.middle, &chain.leaf};
  size_t instructions = 0;
  for (size_t i = 0; i < placed.size(); ++i) {
    uint8_t* start = memory + i * 0x1000;
    std::memcpy(start, methods[i]->bytes().data(), methods[i]->bytes().size());
    placed[i] = {methods[i], reinterpret_cast<uint64_t>(start)};
    instructions += methods[i]->instructions().size();
  }
  middle_slot = memory + 0x1000;
  leaf_slot = memory + 0x2000;
  steps = wrong_steps = 0;

  struct sigaction action {};
  struct sigaction before {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_step;
  REQUIRE(sigaction(SIGTRAP, &action, &before) == 0);
  is_stepping = true;
  raise(SIGTRAP);
  reinterpret_cast<void (*)()>(memory)();
  is_stepping = false;
  raise(SIGTRAP);
  sigaction(SIGTRAP, &before, nullptr);
  munmap(memory, 0x3000);

  CHECK(steps > instructions);
  CHECK(wrong_steps == 0);
}

}  // namespace jitprof::tests
