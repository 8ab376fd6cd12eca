// SPDX-License-Identifier: Apache-2.0
// What scripts/demo profiles: a small text index on the main thread and a heat map on a second one. Most
// helpers are small enough to be inlined, so that the flame graph shows what an inline-aware profiler adds.
// Usage: demo [SECONDS of the wall clock]; prints what it found.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 1664525 + 1013904223;
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(state_) * limit >> 32);
  }

 private:
  std::uint32_t state_;
};

}  // namespace

namespace text {

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Words of random syllables; short ones come up often, as in real text.
std::string generate(Random& random, int words) {
  static constexpr std::array<std::string_view, 12> kSyllables = {"ka", "to", "ri", "ne", "su",  "mo",
                                                                  "la", "vi", "Do", "pe", "gha", "str"};
  std::string out;
  for (int i = 0; i < words; ++i) {
    const std::uint32_t syllables = 1 + random.below(1 + random.below(4));
    for (std::uint32_t s = 0; s < syllables; ++s) out += kSyllables[random.below(kSyllables.size())];
    out += random.below(12) == 0 ? ".\n" : " ";
  }
  return out;
}

std::vector<std::string> tokenize(std::string_view document) {
  std::vector<std::string> tokens;
  std::string word;
  for (const char c : document) {
    if (is_letter(c)) {
      word += to_lower(c);
    } else if (!word.empty()) {
      tokens.push_back(std::move(word));
      word.clear();
    }
  }
  return tokens;
}

}  // namespace text

namespace search {

struct Posting {
  std::uint32_t document;
  std::uint32_t position;
};

struct Score {
  std::string word;
  std::size_t hits;
  double weight;
};

struct WordHash {
  static std::uint64_t mix(std::uint64_t hash, char c) {
    return (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  std::size_t operator()(std::string_view word) const {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : word) hash = mix(hash, c);
    return hash;
  }
};

class Index {
 public:
  void add_document(std::uint32_t document, const std::vector<std::string>& tokens) {
    for (std::uint32_t position = 0; position < tokens.size(); ++position) {
      postings_[tokens[position]].push_back({document, position});
    }
  }

  std::vector<Score> rank() const {
    std::vector<Score> scores;
    for (const auto& [word, postings] : postings_) {
      scores.push_back({word, postings.size(), weigh(word, postings)});
    }
    std::sort(scores.begin(), scores.end(), heavier);
    return scores;
  }

  // How many words start with each letter pair.
  std::map<std::string, int> prefixes() const {
    std::map<std::string, int> counts;
    for (const auto& [word, postings] : postings_)
      counts[word.substr(0, 2)] += static_cast<int>(postings.size());
    return counts;
  }

 private:
  static double gap_penalty(const Posting& before, const Posting& after) {
    return before.document == after.document ? 1 / std::sqrt(1.0 + after.position - before.position) : 0.5;
  }

  static double weigh(const std::string& word, const std::vector<Posting>& postings) {
    double weight = static_cast<double>(word.size());
    for (std::size_t i = 1; i < postings.size(); ++i) weight += gap_penalty(postings[i - 1], postings[i]);
    return weight;
  }

  static bool heavier(const Score& a, const Score& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.word < b.word;
  }

  std::unordered_map<std::string, std::vector<Posting>, WordHash> postings_;
};

std::string build_and_query(Random& random) {
  Index index;
  for (std::uint32_t document = 0; document < 20; ++document) {
    index.add_document(document, text::tokenize(text::generate(random, 600)));
  }
  const std::map<std::string, int> prefixes = index.prefixes();
  const std::vector<Score> scores = index.rank();
  return scores.front().word + " (of " + std::to_string(prefixes.size()) + " prefixes)";
}

}  // namespace search

namespace heat {

constexpr int kSize = 96;

struct Grid {
  std::vector<float> cells = std::vector<float>(kSize * kSize);

  float& at(int row, int column) { return cells[static_cast<std::size_t>(row * kSize + column)]; }
  float at(int row, int column) const { return cells[static_cast<std::size_t>(row * kSize + column)]; }
};

inline float dot_row_column(const Grid& a, const Grid& b, int row, int column) {
  float sum = 0;
  for (int k = 0; k < kSize; ++k) sum += a.at(row, k) * b.at(k, column);
  return sum;
}

Grid multiply(const Grid& a, const Grid& b) {
  Grid product;
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column)
      product.at(row, column) = dot_row_column(a, b, row, column);
  }
  return product;
}

inline float mean_around(const Grid& grid, int row, int column) {
  return (grid.at(row, column) * 4 + grid.at(row - 1, column) + grid.at(row + 1, column) +
          grid.at(row, column - 1) + grid.at(row, column + 1)) /
         8;
}

void smooth(Grid& grid, int times) {
  for (int i = 0; i < times; ++i) {
    const Grid before = grid;
    for (int row = 1; row < kSize - 1; ++row) {
      for (int column = 1; column < kSize - 1; ++column)
        grid.at(row, column) = mean_around(before, row, column);
    }
  }
}

inline float tone(float value) { return std::tanh(value) * 0.5f + 0.5f; }

void apply_tones(Grid& grid) {
  for (float& cell : grid.cells) cell = tone(cell);
}

float render(Random& random) {
  Grid weights;
  for (float& cell : weights.cells) cell = static_cast<float>(random.below(200)) / 1000 - 0.1f;
  Grid map = multiply(weights, weights);
  smooth(map, 60);
  apply_tones(map);
  return map.at(kSize / 2, kSize / 2);
}

}  // namespace heat

namespace {

void index_documents(Clock::time_point end, std::string& heaviest) {
  Random random(1);
  while (Clock::now() < end) heaviest = search::build_and_query(random);
}

void render_heat_maps(Clock::time_point end, float& centre) {
  Random random(2);
  while (Clock::now() < end) centre = heat::render(random);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  float centre = 0;
  std::string heaviest;
  std::thread renderer(render_heat_maps, end, std::ref(centre));
  index_documents(end, heaviest);
  renderer.join();
  std::printf("heaviest word: %s, centre of the heat map: %.3f\n", heaviest.c_str(),
              static_cast<double>(centre));
  return 0;
}
