// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/inline_table.h"

#include <algorithm>
#include <utility>

namespace jitprof {
namespace {

constexpr int32_t kOpen = -2;
constexpr int32_t kClose = -1;

constexpr bool is_line(int32_t line) { return line >= 0; }
constexpr bool is_callee(int32_t line) { return line <= -3; }

}  // namespace

// Goes once through the entries. Since starts never fall, the floor look-up in the entries finds the last
// line in their order that starts at or below an offset: so each line begins a range, which is of the body
// that is open there.
class InlineTable::Builder {
 public:
  Builder(InlineTable& table, uint32_t code_size) : table_(table), code_size_(code_size) {}

  // False: malformed.
  bool add(const Entry& entry) {
    if (has_callee_ && entry.line != kClose) return false;
    if (was_close_ && !is_line(entry.line) && entry.line != kOpen) return false;
    was_close_ = false;
    if (is_callee(entry.line)) return name_callee(entry);
    if (entry.line == kClose) return close(entry.value);
    // A table whose maker mixed up signed and unsigned, or pcs and offsets, is found out by this order.
    if (entry.value < newest_start_ || entry.value > code_size_) return false;
    newest_start_ = entry.value;
    return entry.line == kOpen ? open(entry.value) : begin_line(entry);
  }
  bool is_complete() const { return open_.empty() && !has_callee_ && !was_close_; }

 private:
  struct OpenBody {
    uint32_t body = 0;
    uint32_t start = 0;
  };

  uint32_t innermost() const { return open_.empty() ? kMethod : open_.back().body; }

  bool open(uint32_t start) {
    if (open_.size() == kMaxDepth) return false;
    table_.bodies_.push_back({0, innermost(), 0});
    open_.push_back({static_cast<uint32_t>(table_.bodies_.size() - 1), start});
    return true;
  }

  bool begin_line(const Entry& entry) {
    if (entry.line > kMaxLine) return false;
    std::vector<Range>& ranges = table_.ranges_;
    if (!ranges.empty() && ranges.back().start == entry.value) ranges.pop_back();
    ranges.push_back({entry.value, innermost(), static_cast<uint32_t>(entry.line)});
    return true;
  }

  bool name_callee(const Entry& entry) {
    if (open_.empty() || entry.value >= table_.callees_.size()) return false;
    Body& body = table_.bodies_[open_.back().body];
    body.callee = entry.value;
    body.call_line = static_cast<uint32_t>(-3 - int64_t{entry.line});
    has_callee_ = true;
    return true;
  }

  bool close(uint32_t start) {
    if (!has_callee_ || open_.back().start != start) return false;
    open_.pop_back();
    has_callee_ = false;
    was_close_ = true;
    return true;
  }

  InlineTable& table_;
  uint32_t code_size_;
  std::vector<OpenBody> open_;  // the innermost last
  uint32_t newest_start_ = 0;
  bool has_callee_ = false;  // the entry before named the callee of the innermost open body
  bool was_close_ = false;   // the entry before was a close
};

std::optional<InlineTable> InlineTable::make(std::span<const Entry> entries, uint32_t code_size,
                                             std::string file, std::vector<Callee> callees) {
  InlineTable table;
  table.file_ = std::move(file);
  table.callees_ = std::move(callees);
  Builder builder(table, code_size);
  for (const Entry& entry : entries) {
    if (!builder.add(entry)) return std::nullopt;
  }
  if (!builder.is_complete()) return std::nullopt;
  return table;
}

std::vector<InlineTable::Frame> InlineTable::lookup(uint32_t offset) const {
  auto above = std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                                [](uint32_t value, const Range& range) { return value < range.start; });
  if (above == ranges_.begin()) return {Frame{kMethod, {}, file_, 0}};
  std::vector<Frame> chain;
  uint32_t line = above[-1].line;
  for (uint32_t index = above[-1].body; index != kMethod; index = bodies_[index].parent) {
    const Body& body = bodies_[index];
    const Callee& callee = callees_[body.callee];
    chain.push_back({body.callee, callee.name, callee.file, line});
    line = body.call_line;
  }
  chain.push_back({kMethod, {}, file_, line});
  return chain;
}

}  // namespace jitprof
