// SPDX-License-Identifier: Apache-2.0
// A JIT whose code is known at every instruction.
//
//   toy_jit CHANNEL SECONDS [ROUNDS]        runs main;run_chain;outer;…;middle;…;leaf;…[;callback]
//   toy_jit CHANNEL SECONDS churn [ROUNDS]  puts version after version of a method at the same place:
//                                           main;run_churn;enter_K;version_K[;inlined_K;marker_K]
//   toy_jit truth [map]                     prints every instruction of outer, middle and leaf (those of the
//                                           channel "map", which keep frame pointers)
//
// CHANNEL is one of channel.h. SECONDS are of CPU time. ROUNDS of a loop make one spin of generated code;
// few rounds give more samples around calls; many let each version live longer
// (2000000 about 50 ms), for channels that are polled. At whatever place a sample with enter_K or marker_K
// was taken, version_K must be in it, and no other version.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "../truth/spin.h"
#include "channel.h"
#include "methods.h"

namespace {

constexpr size_t kRoom = 1 << 16;
constexpr unsigned kVersions = 8;
using Code = void (*)();

uint8_t* memory = nullptr;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

// Functions with C names, as they are to be found in stacks.
extern "C" {

KEEP void callback() {
  for (unsigned i = 0; i < 1000; ++i) NOT_A_TAIL_CALL();
}

#define VERSION(number)                                    \
  KEEP void marker_##number() {                            \
    for (unsigned i = 0; i < 2000; ++i) NOT_A_TAIL_CALL(); \
  }                                                        \
  KEEP void enter_##number(Code code) {                    \
    for (unsigned i = 0; i < 20; ++i) {                    \
      code();                                              \
      NOT_A_TAIL_CALL();                                   \
    }                                                      \
  }
VERSION(0) VERSION(1) VERSION(2) VERSION(3) VERSION(4) VERSION(5) VERSION(6) VERSION(7)
}

namespace {

constexpr std::array<void (*)(Code), kVersions> kEnter = {enter_0, enter_1, enter_2, enter_3,
                                                          enter_4, enter_5, enter_6, enter_7};
constexpr std::array<void (*)(), kVersions> kMarkers = {marker_0, marker_1, marker_2, marker_3,
                                                        marker_4, marker_5, marker_6, marker_7};

uint8_t* place(const toy::Method& method, size_t offset) {
  std::memcpy(memory + offset, method.bytes().data(), method.bytes().size());
  return memory + offset;
}

uint64_t position(const uint8_t* code) { return reinterpret_cast<uint64_t>(code); }

// Where outer finds middle, and middle leaf.
const void* middle_slot = nullptr;
const void* leaf_slot = nullptr;

toy::Chain chain_for(bool only_frame_pointers, uint32_t rounds) {
  return toy::make_chain(only_frame_pointers, rounds, reinterpret_cast<const void*>(callback), &middle_slot,
                         &leaf_slot);
}

}  // namespace

extern "C" KEEP void run_chain(toy::Channel& channel, double seconds, uint32_t rounds) {
  toy::Chain chain = chain_for(!channel.tells_frames(), rounds);
  uint8_t* outer = place(chain.outer, 0);
  uint8_t* middle = place(chain.middle, 0x1000);
  uint8_t* leaf = place(chain.leaf, 0x2000);
  middle_slot = middle;
  leaf_slot = leaf;
  channel.publish(chain.outer, position(outer));
  channel.publish(chain.middle, position(middle));
  channel.publish(chain.leaf, position(leaf));
  for (double end = cpu_seconds() + seconds; cpu_seconds() < end;) {
    for (unsigned i = 0; i < 20; ++i) reinterpret_cast<Code>(outer)();
  }
}

// In turn: overwritten without a word, unloaded before, and moved halfway.
extern "C" KEEP void run_churn(toy::Channel& channel, double seconds, uint32_t rounds) {
  double end = cpu_seconds() + seconds;
  for (unsigned turn = 0; cpu_seconds() < end; ++turn) {
    unsigned version = turn % kVersions;
    toy::Method method = toy::make_version(version, !channel.tells_frames(), rounds,
                                           reinterpret_cast<const void*>(kMarkers[version]));
    uint8_t* code = place(method, 0);
    channel.publish(method, position(code));
    kEnter[version](reinterpret_cast<Code>(code));
    if (turn % 3 == 1) {
      channel.unload(method, position(code));
    } else if (turn % 3 == 2) {
      uint8_t* moved = place(method, 0x40);
      channel.move(method, position(code), position(moved));
      kEnter[version](reinterpret_cast<Code>(moved));
    }
  }
}

namespace {

void print_truth(const toy::Method& method) {
  for (const toy::Instruction& instruction : method.instructions()) {
    std::printf("%s +0x%x cfa=%s+%d rbp=%d", method.name().c_str(), instruction.offset,
                instruction.frame.by_rbp ? "rbp" : "rsp", instruction.frame.cfa_offset,
                instruction.frame.rbp_offset);
    for (const toy::Level& level : instruction.chain) {
      std::printf(" %s@%s:%u", level.name.c_str(), level.file.c_str(), level.line);
    }
    std::printf("\n");
  }
}

int usage() {
  std::fprintf(stderr,
               "usage: toy_jit header|jitdump-cfi|gdb|map SECONDS [churn] [ROUNDS]\n"
               "       toy_jit truth [map]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return usage();
  constexpr uint32_t kRounds = 2000;
  if (std::strcmp(argv[1], "truth") == 0) {
    toy::Chain chain = chain_for(argc > 2, kRounds);
    for (const toy::Method* method : {&chain.outer, &chain.middle, &chain.leaf}) print_truth(*method);
    return 0;
  }
  if (argc < 3) return usage();
  std::unique_ptr<toy::Channel> channel = toy::Channel::open(argv[1]);
  if (channel == nullptr) return usage();
  memory = static_cast<uint8_t*>(
      mmap(nullptr, kRoom, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) return 1;
  double seconds = std::strtod(argv[2], nullptr);
  bool churns = argc > 3 && std::strcmp(argv[3], "churn") == 0;
  int rounds_at = churns ? 4 : 3;
  uint32_t rounds =
      argc > rounds_at ? static_cast<uint32_t>(std::strtoul(argv[rounds_at], nullptr, 10)) : kRounds;
  if (churns) {
    run_churn(*channel, seconds, rounds);
  } else {
    run_chain(*channel, seconds, rounds);
  }
  return 0;
}
