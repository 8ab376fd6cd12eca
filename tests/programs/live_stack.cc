// SPDX-License-Identifier: Apache-2.0
// Varied work (parsing, hashing, sorting, maps) at the bottom of a live stack of about a given size, for
// measuring how large recordings become. The stack is a walk down a tree: nested frames of three layouts with
// state of their own, of which the lower ones are left and entered again all the time and the upper ones now
// and then. Usage: live_stack KIB THREADS CPU_SECONDS in all; prints the deepest stack of any thread.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "deepest_stack.h"

namespace {

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_;
};

// What the bottom of the stack works on; all of it on the heap.
class Jobs {
 public:
  explicit Jobs(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 64; ++i) lines_.push_back(make_line());
  }

  std::uint64_t run_one() {
    const std::string& line = lines_[random_.next() % lines_.size()];
    switch (random_.next() % 5) {
      case 0:
        return parse_numbers(line);
      case 1:
        return hash_words(line);
      case 2:
        return sort_small();
      case 3:
        return count_words(line);
      default:
        return rewrite_line();
    }
  }

 private:
  std::string make_line() {
    static constexpr std::array<std::string_view, 6> kWords = {"alpha", "beta", "gamma",
                                                               "delta", "eps",  "zeta"};
    std::string line;
    for (int i = 0; i < 40; ++i) {
      line += kWords[random_.next() % kWords.size()];
      line += '=';
      line += std::to_string(random_.next() % 100000);
      line += ' ';
    }
    return line;
  }

  std::uint64_t parse_numbers(std::string_view line) const {
    std::uint64_t total = 0;
    for (std::size_t at = line.find('='); at != line.npos; at = line.find('=', at + 1)) {
      int number = 0;
      std::from_chars(line.data() + at + 1, line.data() + line.size(), number);
      total += static_cast<std::uint64_t>(number);
    }
    return total;
  }

  std::uint64_t hash_words(std::string_view line) const {
    std::uint64_t hash = 14695981039346656037u;
    for (int round = 0; round < 2; ++round) {
      for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
    return hash;
  }

  std::uint64_t sort_small() {
    std::vector<std::uint32_t> numbers(150);
    for (auto& number : numbers) number = static_cast<std::uint32_t>(random_.next());
    std::sort(numbers.begin(), numbers.end());
    return numbers[75];
  }

  std::uint64_t count_words(std::string_view line) {
    while (!line.empty()) {
      const std::size_t end = std::min(line.find(' '), line.size() - 1);
      ++counts_[std::string(line.substr(0, end))];
      line.remove_prefix(end + 1);
    }
    if (counts_.size() > 2000) counts_.clear();
    return counts_.size();
  }

  std::uint64_t rewrite_line() {
    const std::size_t at = random_.next() % lines_.size();
    lines_[at] = make_line();
    return lines_[at].size();
  }

  Random random_;
  std::vector<std::string> lines_;
  std::map<std::string, int> counts_;
};

class Walk {
 public:
  Walk(const void* stack_top, std::size_t stack_bytes, double limit, std::uint64_t seed)
      : bottom_(reinterpret_cast<std::uintptr_t>(stack_top) - stack_bytes + kBelowBottom),
        limit_(limit),
        random_(seed),
        jobs_(seed + 1) {}

  std::uint64_t run() {
    std::uint64_t result = 0;
    while (!done_) result += descend(0, result);
    return result;
  }

 private:
  // What the jobs themselves put on the stack.
  static constexpr std::size_t kBelowBottom = 300;

  std::uint64_t descend(unsigned level, std::uint64_t from_above) {
    if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) <= bottom_) return work_at_bottom();
    switch (random_.next() % 3) {
      case 0:
        return walk_group(level, from_above);
      case 1:
        return walk_list(level, from_above);
      default:
        return walk_text(level, from_above);
    }
  }

  std::uint64_t work_at_bottom() {
    if (++visits_ % 16 == 0) done_ = process_cpu_seconds() >= limit_;
    return jobs_.run_one();
  }

  // Mostly one child, so that the whole stack is rebuilt within some tens of milliseconds however deep it is.
  int children() { return random_.next() % 6 == 0 ? 2 : 1; }

  __attribute__((noinline)) std::uint64_t walk_group(unsigned level, std::uint64_t from_above) {
    std::array<double, 16> transform;
    for (unsigned i = 0; i < 16; ++i)
      transform[i] = static_cast<double>(from_above >> i & 0xff) / (level + 1);
    std::uint64_t sum = level;
    for (int left = children(); left > 0 && !done_; --left) {
      sum += descend(level + 1, sum);
      for (unsigned i = 0; i < 16; i += 5) transform[i] += static_cast<double>(sum & 0xffff);
    }
    return sum + static_cast<std::uint64_t>(transform[0] + transform[5] + transform[15]);
  }

  __attribute__((noinline)) std::uint64_t walk_list(unsigned level, std::uint64_t from_above) {
    std::array<std::uint32_t, 24> entries;
    std::uint32_t value = static_cast<std::uint32_t>(from_above) | 1;
    for (auto& entry : entries) entry = value = value * 1664525 + level;
    std::uint64_t sum = 0;
    for (int left = children(); left > 0 && !done_; --left) {
      sum += descend(level + 1, from_above ^ entries[sum % entries.size()]);
      entries[sum % entries.size()] = static_cast<std::uint32_t>(sum);
    }
    return sum ^ *std::max_element(entries.begin(), entries.end());
  }

  __attribute__((noinline)) std::uint64_t walk_text(unsigned level, std::uint64_t from_above) {
    std::array<char, 72> path{};
    char* end = path.data();
    for (unsigned i = 0; i < 3; ++i) {
      *end++ = '/';
      end = std::to_chars(end, path.data() + path.size(), from_above >> (16 * i) & 0xffff).ptr;
    }
    const std::string_view name(path.data(), static_cast<std::size_t>(end - path.data()));
    std::uint64_t sum = level;
    for (int left = children(); left > 0 && !done_; --left) {
      sum += descend(level + 1, sum * 31 + name.size());
      path[sum % name.size()] = static_cast<char>('a' + sum % 26);
    }
    return sum + static_cast<std::uint64_t>(std::count(name.begin(), name.end(), '/'));
  }

  std::uintptr_t bottom_;
  double limit_;
  Random random_;
  Jobs jobs_;
  std::uint64_t visits_ = 0;
  bool done_ = false;
};

struct Outcome {
  std::uint64_t checksum = 0;
  std::size_t deepest = 0;
};

void walk(const void* stack_top, std::size_t stack_bytes, double limit, std::uint64_t seed,
          Outcome& outcome) {
  const PaintedStack stack(stack_top);
  outcome.checksum = Walk(stack_top, stack_bytes, limit, seed).run();
  outcome.deepest = stack.deepest();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s KIB THREADS CPU_SECONDS\n", argv[0]);
    return 2;
  }
  const std::size_t stack_bytes = static_cast<std::size_t>(std::atoi(argv[1])) * 1024;
  const unsigned count = static_cast<unsigned>(std::max(1, std::atoi(argv[2])));
  const double limit = std::atof(argv[3]);
  std::vector<Outcome> outcomes(count);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < count; ++i) {
    others.emplace_back([=, &outcomes] { walk(thread_stack_top(), stack_bytes, limit, i, outcomes[i]); });
  }
  walk(argv, stack_bytes, limit, 0, outcomes[0]);
  for (std::thread& other : others) other.join();
  std::size_t deepest = 0;
  std::uint64_t checksum = 0;
  for (const Outcome& outcome : outcomes) {
    deepest = std::max(deepest, outcome.deepest);
    checksum += outcome.checksum;
  }
  std::printf("deepest stack: %zu bytes\nchecksum: %llx\n", deepest,
              static_cast<unsigned long long>(checksum));
  return 0;
}
