// SPDX-License-Identifier: Apache-2.0
// Lines of perf maps: what producers write, what is left out, pieces cut anywhere.
#include "unwind/jit/perf_map.h"

#include <random>

#include "tests/catch.h"

namespace jitprof {
namespace {

using Shortfalls = std::map<std::string, uint64_t>;
const std::string kUnreadable = "lines of perf maps that could not be read";

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string text_of(const PerfMapEntry& entry) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%lx %lx ", entry.start.value, entry.size);
  return numbers + entry.name;
}

std::vector<std::string> texts_of(PerfMapReader& reader) {
  std::vector<std::string> texts;
  for (const PerfMapEntry& entry : reader.entries()) texts.push_back(text_of(entry));
  return texts;
}

// The only line of the text, or "" when it is counted as one that cannot be read.
std::string read_line(const std::string& line) {
  PerfMapReader reader;
  reader.add(bytes_of(line + "\n"), {});
  reader.finish();
  INFO(line.substr(0, 100));
  REQUIRE(reader.entries().size() + reader.shortfalls().size() == 1);
  return reader.entries().empty() ? "" : text_of(reader.entries().front());
}

}  // namespace

TEST_CASE("what producers write into perf maps") {
  // V8, HotSpot, .NET, Erlang.
  CHECK(read_line("7f6786fc7040 2d4 JS:*mid node/chain.js:16:13") ==
        "7f6786fc7040 2d4 JS:*mid node/chain.js:16:13");
  CHECK(read_line("0x00007fe48ced2ca0 0x0000000000000638 int Chain.mid(int, int)") ==
        "7fe48ced2ca0 638 int Chain.mid(int, int)");
  CHECK(read_line("00007F2A1C0A2D30 1A bool [System.Private] Foo::Bar(int32)[Tier1]") ==
        "7f2a1c0a2d30 1a bool [System.Private] Foo::Bar(int32)[Tier1]");
  CHECK(read_line("7f00 10 $erlang:'+'/2") == "7f00 10 $erlang:'+'/2");
  CHECK(read_line("0X7F00 0XaB x") == "7f00 ab x");
  CHECK(read_line("7f00\t10\tf") == "7f00 10 f");
  CHECK(read_line("7f00 10   LazyCompile:~ a b;c  <d>  \r") == "7f00 10 LazyCompile:~ a b;c  <d>");
  CHECK(read_line("7f00 10 größe 関数") == "7f00 10 größe 関数");
  CHECK(read_line("0 1 f") == "0 1 f");
  CHECK(read_line("00000000000000000000007f00 10 f") == "7f00 10 f");
  CHECK(read_line("fffffffffffffff0 f last") == "fffffffffffffff0 f last");
}

TEST_CASE("lines of perf maps that say nothing") {
  auto line =
      GENERATE(as<std::string>{}, "7f00", "7f00 10", "7f00 10 ", "7f00  ", "f", "x10 10 f", "7f00 1g f",
               "7f00 10f", "0x 10 f", "7f00 0x f", "-7f00 10 f", "7f00 -1 f", "+7f00 10 f", " 7f00 10 f",
               "7f00 0 f", "7f00 100000001 f", "fffffffffffffff0 10 wraps", "fffffffffffffff0 20 wraps",
               "10000000000000000 10 f", "7f00 10000000000000000 f", "7f00,10 f", "\x01\x02\x03");
  CHECK(read_line(line).empty());
}

TEST_CASE("the rest of a perf map with bad lines is kept") {
  PerfMapReader reader;
  reader.add(bytes_of("1000 10 a\nnonsense\n\n2000 0 b\r\n3000 10 c\n4000 10 d"), {});
  reader.finish();
  CHECK(texts_of(reader) == std::vector<std::string>{"1000 10 a", "3000 10 c"});
  // The last has no end: its name may go on.
  CHECK(reader.shortfalls() == Shortfalls{{kUnreadable, 3}});
}

TEST_CASE("long names and lines of perf maps are bounded") {
  std::string long_name = read_line("1000 10 a" + std::string(100'000, 'x'));
  CHECK(long_name.size() == 8 + (16 << 10));
  // Not cut inside a character: two bytes each, behind one of one byte.
  std::string characters = "a";
  for (int i = 0; i < 10'000; ++i) characters += "ß";
  CHECK(read_line("1000 10 " + characters) == "1000 10 " + characters.substr(0, (16 << 10) - 1));

  PerfMapReader reader;
  std::string piece(1 << 20, 'x');
  reader.add(bytes_of("1000 10 a\n2000 10 "), {});
  for (int i = 0; i < 4; ++i) reader.add(bytes_of(piece), {});
  reader.add(bytes_of("\n3000 10 c\n"), {});
  reader.finish();
  CHECK(texts_of(reader) == std::vector<std::string>{"1000 10 a", "3000 10 c"});
  CHECK(reader.shortfalls() == Shortfalls{{kUnreadable, 1}});
}

TEST_CASE("a line of a perf map counts between the looks before its beginning and after its end") {
  PerfMapReader reader;
  reader.add(bytes_of("1000 10 a\n2000 1"), {0, 100});
  reader.add(bytes_of("0 "), {100, 200});
  reader.add(bytes_of("b\n3000 10 c\n"), {200, 300});
  reader.finish();
  REQUIRE(texts_of(reader) == std::vector<std::string>{"1000 10 a", "2000 10 b", "3000 10 c"});
  std::vector<std::pair<uint64_t, uint64_t>> times;
  for (const PerfMapEntry& entry : reader.entries())
    times.emplace_back(entry.times.from_ns, entry.times.seen_ns);
  CHECK(times == std::vector<std::pair<uint64_t, uint64_t>>{{0, 100}, {0, 300}, {200, 300}});
  CHECK(reader.shortfalls().empty());
}

TEST_CASE("pieces of a perf map may be cut anywhere") {
  const std::string text = "1000 10 a b;c\r\n0x2000 0x20 größe\nnonsense\n3000 30 d\n";
  std::vector<std::string> all = {"1000 10 a b;c", "2000 20 größe", "3000 30 d"};
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); ++second) {
      PerfMapReader reader;
      reader.add(bytes_of(text.substr(0, first)), {});
      reader.add(bytes_of(text.substr(first, second - first)), {});
      reader.add(bytes_of(text.substr(second)), {});
      reader.finish();
      REQUIRE(texts_of(reader) == all);
      REQUIRE(reader.shortfalls() == Shortfalls{{kUnreadable, 1}});
    }
  }
}

TEST_CASE("a perf map that is written anew or has lost a piece") {
  PerfMapReader reader;
  reader.add(bytes_of("1000 10 a\n2000 10 b"), {});
  reader.begin_anew();
  reader.add(bytes_of("3000 10 c\n4000 1"), {});
  reader.lose_bytes();
  reader.add(bytes_of("0 rest of a line\n5000 10 e\n"), {});
  reader.finish();
  CHECK(texts_of(reader) == std::vector<std::string>{"1000 10 a", "3000 10 c", "5000 10 e"});
  CHECK(reader.shortfalls() == Shortfalls{{kUnreadable, 2}});
}

TEST_CASE("damaged perf maps") {
  std::string original;
  for (int i = 0; i < 50; ++i)
    original += std::to_string(1000 + i) + " 1f JS:*function" + std::to_string(i) + " a.js:1:2\n";
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    std::string text = original;
    for (unsigned i = 0; i < 1u << seed % 9; ++i)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    text.resize(random() % (text.size() + 1));
    PerfMapReader reader;
    size_t cut = random() % (text.size() + 1);
    reader.add(bytes_of(text.substr(0, cut)), {});
    reader.add(bytes_of(text.substr(cut)), {});
    reader.finish();
    INFO(seed);
    CHECK(reader.entries().size() <= 60 + static_cast<size_t>(std::count(text.begin(), text.end(), '\n')));
    for (const PerfMapEntry& entry : reader.entries()) {
      REQUIRE(entry.size > 0);
      REQUIRE(entry.start.value + entry.size > entry.start.value);
      REQUIRE(!entry.name.empty());
    }
  }
}

}  // namespace jitprof
