// SPDX-License-Identifier: Apache-2.0
// Four threads of varied C++ work (sorting, maps, regular expressions, function pointers, a recursive
// parser), built with -O2 -fomit-frame-pointer: every stack must be unwound to its root. Usage: threads
// [CPU_SECONDS in all]; prints the deepest stack of any thread, which must stay below 32 KiB.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "deepest_stack.h"

namespace {

constexpr int kThreads = 4;

struct Record {
  std::string name;
  std::uint32_t key;
};

std::vector<Record> make_records(std::mt19937& random, int count) {
  std::vector<Record> records;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t key = random();
    records.push_back({"item-" + std::to_string(key % 1000) + "@host" + std::to_string(key % 7), key});
  }
  return records;
}

std::size_t sort_by_name_and_key(std::mt19937& random) {
  std::vector<Record> records = make_records(random, 300);
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.name < b.name; });
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.key % 16 < b.key % 16; });
  return records.front().key;
}

int compare_keys(const void* left, const void* right) {
  const auto a = *static_cast<const std::uint32_t*>(left);
  const auto b = *static_cast<const std::uint32_t*>(right);
  return (a > b) - (a < b);
}

std::size_t qsort_keys(std::mt19937& random) {
  std::array<std::uint32_t, 200> keys;
  for (auto& key : keys) key = random();
  std::qsort(keys.data(), keys.size(), sizeof keys[0], compare_keys);
  return keys[keys.size() / 2];
}

std::size_t group_in_map(std::mt19937& random) {
  std::map<std::string, std::vector<std::uint32_t>> groups;
  for (const Record& record : make_records(random, 200)) groups[record.name].push_back(record.key);
  for (auto it = groups.begin(); it != groups.end();)
    it = it->second.size() == 1 ? groups.erase(it) : std::next(it);
  return groups.size();
}

// Short lines, because the matcher of libstdc++ recurses once or more for every character.
std::size_t match_regex(std::mt19937& random) {
  static const std::regex pattern("([a-z]+)-([0-9]+)@host[0-5]$");
  std::size_t matches = 0;
  for (const Record& record : make_records(random, 30)) {
    std::smatch parts;
    if (std::regex_search(record.name, parts, pattern)) matches += parts[2].str().size();
  }
  return matches;
}

// A stack machine whose instructions are function pointers.
using Instruction = void (*)(std::vector<std::uint64_t>& stack);

void push_one(std::vector<std::uint64_t>& stack) { stack.push_back(1); }
void duplicate(std::vector<std::uint64_t>& stack) { stack.push_back(stack.back()); }
void multiply_add(std::vector<std::uint64_t>& stack) {
  const std::uint64_t top = stack.back();
  stack.pop_back();
  stack.back() = stack.back() * 6364136223846793005u + top;
}
void fold_if_deep(std::vector<std::uint64_t>& stack) {
  while (stack.size() > 8) multiply_add(stack);
}

std::size_t run_instructions(std::mt19937& random) {
  constexpr std::array<Instruction, 4> kInstructions = {push_one, duplicate, multiply_add, fold_if_deep};
  std::vector<std::uint64_t> stack = {1, 2};
  for (int i = 0; i < 3000; ++i) {
    const Instruction instruction = kInstructions[random() % kInstructions.size()];
    if (instruction != multiply_add || stack.size() > 2) instruction(stack);
  }
  return stack.back();
}

// expression := term { '+' term }; term := digit | '(' expression ')'
class Expression {
 public:
  explicit Expression(const std::string& text) : next_(text.c_str()) {}

  std::size_t sum() {
    std::size_t total = term();
    while (*next_ == '+') {
      ++next_;
      total += term();
    }
    return total;
  }

 private:
  std::size_t term() {
    if (*next_ != '(') return static_cast<std::size_t>(*next_++ - '0');
    ++next_;
    const std::size_t inner = sum();
    ++next_;
    return inner;
  }

  const char* next_;
};

void append_nested(std::string& text, std::mt19937& random, int depth) {
  for (int i = 0; i < 3; ++i) {
    if (i > 0) text += '+';
    if (depth > 0 && random() % 3 != 0) {
      text += '(';
      append_nested(text, random, depth - 1);
      text += ')';
    } else {
      text += static_cast<char>('0' + random() % 10);
    }
  }
}

std::size_t parse_expression(std::mt19937& random) {
  std::string text;
  append_nested(text, random, 8);
  return Expression(text).sum();
}

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  double side;
};
struct Disc : Shape {
  explicit Disc(double r) : radius(r) {}
  double area() const override { return radius * radius * 3.14159; }
  double radius;
};

std::size_t sum_virtual_areas(std::mt19937& random) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < 200; ++i) {
    const double size = static_cast<double>(random() % 100);
    if (random() % 2 == 0) {
      shapes.push_back(std::make_unique<Square>(size));
    } else {
      shapes.push_back(std::make_unique<Disc>(size));
    }
  }
  double total = 0;
  for (const auto& shape : shapes) total += shape->area();
  return static_cast<std::size_t>(total);
}

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Outcome {
  std::size_t checksum = 0;
  std::size_t deepest = 0;
};

void work(unsigned seed, double limit, Outcome& outcome) {
  const PaintedStack stack(thread_stack_top());
  const std::vector<std::function<std::size_t(std::mt19937&)>> jobs = {
      sort_by_name_and_key, qsort_keys,       group_in_map,     match_regex,
      run_instructions,     parse_expression, sum_virtual_areas};
  std::mt19937 random(seed);
  while (process_cpu_seconds() < limit) outcome.checksum += jobs[random() % jobs.size()](random);
  outcome.deepest = stack.deepest();
}

}  // namespace

int main(int argc, char** argv) {
  const PaintedStack stack(argv);
  const double limit = argc > 1 ? std::atof(argv[1]) : 2;
  std::array<Outcome, kThreads> outcomes;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, i, limit, std::ref(outcomes[i]));
  for (std::thread& thread : threads) thread.join();
  std::size_t deepest = stack.deepest();
  std::size_t checksum = 0;
  for (const Outcome& outcome : outcomes) {
    deepest = std::max(deepest, outcome.deepest);
    checksum += outcome.checksum;
  }
  std::printf("deepest stack: %zu bytes\nchecksum: %zx\n", deepest, checksum);
  return 0;
}
