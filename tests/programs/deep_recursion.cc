// SPDX-License-Identifier: Apache-2.0
// Recursion of a given depth through three functions whose frames differ (16 to 48 bytes: 2,000 frames fit in
// 64 KiB). They are left and entered again for every result, which takes long, so that nearly every sample
// stands at the bottom of a full stack. Usage: deep_recursion DEPTH CPU_SECONDS; prints a checksum.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

__attribute__((noinline)) std::uint64_t mix(std::uint64_t seed) {
  for (int i = 0; i < 100'000; ++i) seed = (seed ^ seed >> 29) * 0x9e3779b97f4a7c15u + 1;
  return seed;
}

std::uint64_t through_one(unsigned left, std::uint64_t seed);
std::uint64_t through_two(unsigned left, std::uint64_t seed);
std::uint64_t through_three(unsigned left, std::uint64_t seed);

// What is used behind the call keeps it from being a jump and is what the frames hold.
__attribute__((noinline)) std::uint64_t through_one(unsigned left, std::uint64_t seed) {
  if (left == 0) return mix(seed);
  return through_two(left - 1, seed + left) ^ seed;
}

__attribute__((noinline)) std::uint64_t through_two(unsigned left, std::uint64_t seed) {
  if (left == 0) return mix(seed);
  const std::uint64_t rotated = seed << 7 | seed >> 57;
  return through_three(left - 1, rotated) + (rotated ^ seed) * left;
}

__attribute__((noinline)) std::uint64_t through_three(unsigned left, std::uint64_t seed) {
  if (left == 0) return mix(seed);
  const std::uint64_t product = seed * 3 + left;
  const std::uint64_t high = seed >> 11;
  return (through_one(left - 1, product + high) + product * high) ^ seed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s DEPTH CPU_SECONDS\n", argv[0]);
    return 2;
  }
  const unsigned depth = static_cast<unsigned>(std::atoi(argv[1]));
  const double limit = std::atof(argv[2]);
  std::uint64_t checksum = 1;
  while (process_cpu_seconds() < limit) checksum = through_one(depth, checksum);
  std::printf("checksum: %llx\n", static_cast<unsigned long long>(checksum));
  return 0;
}
