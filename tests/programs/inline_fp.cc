// SPDX-License-Identifier: Apache-2.0
// Nested inlines in a program that keeps frame pointers: built with -O2 -g -fno-omit-frame-pointer and
// recorded both with fp chains and with stacks, each pc must show the same inline chain. Calls nothing
// outside itself while it works, so that no library without frame pointers cuts an fp chain. Usage: inline_fp
// [CPU_SECONDS]; prints a checksum.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "marker.h"

namespace {

struct Mixer {
  std::uint64_t state;

  INLINED std::uint64_t rotate(int bits) const { return state << bits | state >> (64 - bits); }
  INLINED void step(std::uint64_t word) { state = (rotate(27) ^ word) * 0x9e3779b97f4a7c15; }
};

using Table = std::array<std::uint64_t, 256>;

template <typename Visit>
INLINED void for_each_word(Table& table, Visit visit) {
  for (std::uint64_t& word : table) visit(word);
}

INLINED std::uint64_t digest(Table& table) {
  Mixer mixer{table[0]};
  for_each_word(table, [&](std::uint64_t& word) { mixer.step(word); });
  return mixer.state;
}

INLINED void scramble(Table& table, std::uint64_t seed) {
  Mixer mixer{seed};
  for_each_word(table, [&](std::uint64_t& word) {
    mixer.step(word);
    word ^= mixer.rotate(13);
  });
}

INLINED int gcd_steps(std::uint64_t a, std::uint64_t b) {
  int steps = 0;
  for (; b != 0; ++steps) {
    const std::uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return steps;
}

// Only some words, because a division takes as long as all else that is done to a word.
INLINED std::uint64_t weigh(Table& table) {
  std::uint64_t total = 0;
  for_each_word(table, [&](std::uint64_t& word) {
    if (word % 32 == 0) total += static_cast<std::uint64_t>(gcd_steps(word, total | 1));
  });
  return total;
}

KEEP std::uint64_t scramble_and_digest(Table& table, std::uint64_t seed) {
  scramble(table, seed);
  return digest(table);
}

KEEP std::uint64_t digest_and_weigh(Table& table) { return digest(table) ^ weigh(table); }

KEEP std::uint64_t nested_calls(Table& table, int depth) {
  if (depth == 0) return digest_and_weigh(table);
  const std::uint64_t below = nested_calls(table, depth - 1);
  return scramble_and_digest(table, below) + below;
}

KEEP std::uint64_t round_of_work(Table& table, std::uint64_t seed) {
  std::uint64_t result = seed;
  for (int depth = 0; depth < 64; ++depth) result += nested_calls(table, depth % 8);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 1;
  Table table{};
  std::uint64_t checksum = 1;
  while (seconds_on(CLOCK_PROCESS_CPUTIME_ID) < limit) checksum = round_of_work(table, checksum);
  std::printf("%016llx\n", static_cast<unsigned long long>(checksum));
  return 0;
}
