// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/perf_map.h"

#include <charconv>
#include <optional>

namespace jitprof {
namespace {

constexpr size_t kMaxEntries = 10'000'000;
// The bodies of functions that node evaluates from data: URLs are parts of their names.
constexpr size_t kMaxName = 16 << 10;
constexpr size_t kMaxLine = 1 << 20;
// The largest code caches are 2 GiB.
constexpr uint64_t kMaxSize = uint64_t{4} << 30;

// Takes a hexadecimal number and the blanks behind it off the front of the line.
std::optional<uint64_t> take_number(std::string_view& line) {
  if (line.starts_with("0x") || line.starts_with("0X")) line.remove_prefix(2);
  uint64_t value = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  size_t blanks = line.find_first_not_of(" \t");
  if (blanks == 0 || blanks == std::string_view::npos) return std::nullopt;
  line.remove_prefix(blanks);
  return value;
}

// Not in the middle of a UTF-8 character.
std::string_view cut(std::string_view name) {
  if (name.size() <= kMaxName) return name;
  size_t size = kMaxName;
  while (size > kMaxName - 4 && (static_cast<uint8_t>(name[size]) & 0xc0) == 0x80) --size;
  return name.substr(0, size);
}

std::optional<PerfMapEntry> parse(std::string_view line) {
  std::optional<uint64_t> start = take_number(line);
  if (!start) return std::nullopt;
  std::optional<uint64_t> size = take_number(line);
  if (!size || *size == 0 || *size > kMaxSize || *start + *size < *start) return std::nullopt;
  return PerfMapEntry{{*start}, *size, std::string(cut(line)), {}};
}

std::string_view without_end_blanks(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

}  // namespace

void PerfMapReader::add(Bytes piece, LookTimes times) {
  std::string_view text(reinterpret_cast<const char*>(piece.data()), piece.size());
  while (!text.empty()) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      hold_back(text, times);
      return;
    }
    if (skips_to_line_) {
      skips_to_line_ = false;
    } else if (half_line_.empty()) {
      add_line(text.substr(0, end), times);
    } else {
      half_line_ += text.substr(0, end);
      add_line(half_line_, {half_line_from_ns_, times.seen_ns});
      half_line_.clear();
    }
    text.remove_prefix(end + 1);
  }
}

void PerfMapReader::hold_back(std::string_view rest, LookTimes times) {
  if (skips_to_line_) return;
  if (half_line_.empty()) half_line_from_ns_ = times.from_ns;
  half_line_ += rest;
  if (half_line_.size() > kMaxLine) {
    forget_half_line();
    skips_to_line_ = true;
  }
}

void PerfMapReader::add_line(std::string_view line, LookTimes times) {
  line = without_end_blanks(line);
  if (line.empty()) return;
  std::optional<PerfMapEntry> entry = parse(line);
  if (!entry) {
    ++shortfalls_["lines of perf maps that could not be read"];
  } else if (entries_.size() == kMaxEntries) {
    ++shortfalls_["lines of perf maps beyond 10 million"];
  } else {
    entry->times = times;
    entries_.push_back(std::move(*entry));
  }
}

void PerfMapReader::forget_half_line() {
  if (!half_line_.empty()) ++shortfalls_["lines of perf maps that could not be read"];
  half_line_ = std::string();
}

void PerfMapReader::begin_anew() {
  forget_half_line();
  skips_to_line_ = false;
}

void PerfMapReader::lose_bytes() {
  forget_half_line();
  skips_to_line_ = true;
}

void PerfMapReader::finish() { forget_half_line(); }

}  // namespace jitprof
