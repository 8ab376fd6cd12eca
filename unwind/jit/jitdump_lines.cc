// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/jitdump_lines.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "unwind/jit/jitdump_format.h"

namespace jitprof {
namespace {

using jitdump::CodeDebugInfo;
using jitdump::DebugEntry;

// V8 and LLVM give pcs of an ELF file in which the code follows the header.
constexpr int64_t kElfHeader = 0x40;
// BEAM's first entry lies 0x31 bytes before the code.
constexpr int64_t kMaxBefore = 0x40;
// V8 11.3 writes file names out of freed memory. The allocator has used its first bytes, a pointer and a key;
// seldom another thread has used more.
constexpr size_t kOverwritten = 16;
constexpr std::string_view kSameName = "\xff";

struct Entry {
  int64_t offset;  // of the recorded pc from the code's start
  uint32_t line;
  uint32_t discriminator;
  std::string_view name;
};

// Where the code's lines can lie, ELF header or not.
bool is_inside(int64_t offset, uint64_t code_size) {
  return offset >= -kMaxBefore && offset <= static_cast<int64_t>(code_size) + kElfHeader;
}

class EntryReader {
 public:
  EntryReader(Bytes entries, RuntimeAddr start, uint64_t code_size)
      : text_(reinterpret_cast<const char*>(entries.data()), entries.size()),
        start_(start),
        code_size_(code_size) {}

  std::optional<std::vector<Entry>> read(uint64_t count) const {
    if (count == 0 || count > text_.size() / (sizeof(DebugEntry) + 1)) return std::nullopt;
    std::optional<std::vector<Entry>> plain = read(count, false);
    auto is_entry = [&](const Entry& entry) { return is_inside(entry.offset, code_size_); };
    if (plain && std::ranges::all_of(*plain, is_entry)) return plain;
    if (std::optional<std::vector<Entry>> strict = read(count, true)) return strict;
    // Code outside the object (a cold part) is none of its lines.
    if (plain) std::erase_if(*plain, [&](const Entry& entry) { return !is_entry(entry); });
    return plain && !plain->empty() ? plain : std::nullopt;
  }

 private:
  // With `skips_inner_nuls` a name ends only where a possible entry begins behind it: names that V8 wrote out
  // of freed memory have zeros inside. Exactly `count` entries, and nothing but zeros behind them, or none.
  std::optional<std::vector<Entry>> read(uint64_t count, bool skips_inner_nuls) const {
    std::vector<Entry> entries;
    size_t at = 0;
    while (entries.size() < count) {
      if (!has_entry_at(at) || (skips_inner_nuls && !is_inside(offset_at(at), code_size_)))
        return std::nullopt;
      DebugEntry raw;
      std::memcpy(&raw, text_.data() + at, sizeof raw);
      size_t name = at + sizeof raw;
      bool is_last = entries.size() + 1 == count;
      size_t end = skips_inner_nuls ? end_of_name(name, is_last) : text_.find('\0', name);
      if (end == std::string_view::npos) return std::nullopt;
      entries.push_back({offset_at(at), raw.line, raw.discriminator, text_.substr(name, end - name)});
      at = end + 1;
    }
    if (text_.find_first_not_of('\0', at) != std::string_view::npos) return std::nullopt;
    return entries;
  }

  // The first NUL behind which an entry begins, or the record ends.
  size_t end_of_name(size_t name, bool is_last) const {
    size_t end = text_.find('\0', name);
    for (; end != std::string_view::npos; end = text_.find('\0', end + 1)) {
      bool is_before_entry = has_entry_at(end + 1) && is_inside(offset_at(end + 1), code_size_);
      if (is_before_entry || end + 1 == text_.size())
        return is_before_entry == is_last ? std::string_view::npos : end;
    }
    return end;
  }

  bool has_entry_at(size_t at) const { return at <= text_.size() && text_.size() - at > sizeof(DebugEntry); }

  int64_t offset_at(size_t at) const {
    uint64_t pc;
    std::memcpy(&pc, text_.data() + at, sizeof pc);
    return static_cast<int64_t>(pc - start_.value);
  }

  std::string_view text_;
  RuntimeAddr start_;
  uint64_t code_size_;
};

// What a record shows of how its producer counts, or nothing.
std::optional<bool> shows_elf_header(const std::vector<Entry>& entries, uint64_t code_size) {
  auto [least, most] = std::ranges::minmax(entries, {}, &Entry::offset);
  if (least.offset < kElfHeader) return false;
  if (entries.front().offset == kElfHeader || most.offset > static_cast<int64_t>(code_size)) return true;
  return std::nullopt;
}

bool is_overwritten(std::string_view name) {
  auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  return std::ranges::any_of(name, is_control);
}

// "JS:*mid /srv/chain.js:16:13" -> "/srv/chain.js".
std::string_view without_position(std::string_view code_name) {
  for (int number = 0; number < 2; ++number) {
    size_t colon = code_name.find_last_not_of("0123456789");
    if (colon == std::string_view::npos || code_name[colon] != ':') return {};
    code_name = code_name.substr(0, colon);
  }
  return code_name;
}

// A name whose beginning is lost is the file in the function's own name when that has its length and its
// rest. Otherwise it is unknown, "".
std::string_view restored(std::string_view name, std::string_view code_name) {
  if (!is_overwritten(name)) return name;
  code_name = without_position(code_name);
  if (name.size() <= kOverwritten || code_name.size() <= name.size()) return {};
  std::string_view file = code_name.substr(code_name.size() - name.size());
  bool is_whole = code_name[code_name.size() - name.size() - 1] == ' ';
  return is_whole && file.ends_with(name.substr(kOverwritten)) ? file : std::string_view();
}

// Numbers the names of a record's files.
class FileNames {
 public:
  explicit FileNames(JitCode& code) : files_(code.files), code_name_(code.name) {}

  uint32_t number_of(std::string_view name) {
    if (name == kSameName && !files_.empty()) return last_;
    if (name == kSameName) name = {};
    auto [found, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(files_.size()));
    if (is_new) files_.emplace_back(restored(name, code_name_));
    return last_ = found->second;
  }

 private:
  std::vector<std::string>& files_;
  std::string_view code_name_;
  std::map<std::string_view, uint32_t> numbers_;
  uint32_t last_ = 0;
};

// Ascending, one for each offset: the one that came last.
void put_in_order(std::vector<JitLine>& lines) {
  std::ranges::stable_sort(lines, {}, &JitLine::offset);
  auto unique = std::ranges::unique(lines.rbegin(), lines.rend(), {}, &JitLine::offset);
  lines.erase(lines.begin(), unique.begin().base());
}

}  // namespace

bool JitdumpLines::read(Bytes body, RuntimeAddr start, bool has_columns, JitCode& code) {
  ByteReader reader(body);
  auto head = reader.read<CodeDebugInfo>();
  if (!reader.ok()) return false;
  EntryReader entry_reader(body.subspan(sizeof head), start, code.size);
  std::optional<std::vector<Entry>> entries = entry_reader.read(head.entry_count);
  if (!entries) return false;
  counts_elf_header_ = shows_elf_header(*entries, code.size).value_or(counts_elf_header_);
  FileNames names(code);
  for (const Entry& entry : *entries) {
    // Numbered in any case: the next entry may have the same name.
    uint32_t file = names.number_of(entry.name);
    int64_t offset = entry.offset - (counts_elf_header_ ? kElfHeader : 0);
    if (offset >= static_cast<int64_t>(code.size)) continue;
    code.lines.push_back({.offset = static_cast<uint32_t>(std::max<int64_t>(offset, 0)),
                          .file = file,
                          .line = entry.line,
                          .column = has_columns ? entry.discriminator : 0});
  }
  put_in_order(code.lines);
  return true;
}

}  // namespace jitprof
