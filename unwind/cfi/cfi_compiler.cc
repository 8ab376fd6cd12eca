// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/cfi_compiler.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "unwind/cfi/cfi_entries.h"
#include "unwind/cfi/cfi_program.h"
#include "unwind/cfi/rule_dictionary.h"

namespace jitprof {
namespace {

// How far a row may start from the lowest one.
constexpr uint64_t kReach = std::numeric_limits<uint32_t>::max();

// Code where threads begin is short (glibc's: 16 to 40 bytes).
constexpr uint64_t kLongestRoot = 4096;

// One section with its entries and the states in which its FDEs begin.
class ParsedSection {
 public:
  ParsedSection(const FrameSection& section, ExpressionPool& expressions)
      : is_debug_frame_(section.is_debug_frame),
        entries_(read_cfi_entries(section)),
        program_(section, expressions) {
    for (const Cie& cie : entries_.cies) initial_.push_back(program_.initial_state(cie));
  }

  // A program that stands before the FDE's first row; nullptr when its CIE's own program is damaged.
  CfiProgram* begin(const Fde& fde) {
    const std::optional<FrameState>& initial = initial_[fde.cie];
    if (!initial) return nullptr;
    program_.begin(fde, entries_.cies[fde.cie], *initial);
    return &program_;
  }

  bool is_debug_frame() const { return is_debug_frame_; }
  const CfiEntries& entries() const { return entries_; }

 private:
  const bool is_debug_frame_;
  const CfiEntries entries_;
  CfiProgram program_;
  std::vector<std::optional<FrameState>> initial_;  // by CIE
};

struct FdePlace {
  ElfAddr start;
  uint32_t section = 0;
  uint32_t index = 0;  // in the section
  auto operator<=>(const FdePlace&) const = default;
};

class Compiler {
 public:
  explicit Compiler(std::span<const FrameSection> sections) {
    for (const FrameSection& section : sections) {
      sections_.emplace_back(section, dictionary_.expressions());
      const CfiEntries& entries = sections_.back().entries();
      result_.unreadable += entries.unreadable;
      for (size_t i = 0; i < entries.fdes.size(); ++i) {
        places_.push_back(
            {entries.fdes[i].start, static_cast<uint32_t>(sections_.size() - 1), static_cast<uint32_t>(i)});
      }
    }
    std::ranges::sort(places_);
  }

  CompiledCfi run() && {
    keep_one_window();
    if (places_.empty()) return std::move(result_);
    result_.lowest = places_.front().start;
    bool has_debug_frame =
        std::ranges::any_of(places_, [&](const FdePlace& place) { return is_debug(place); });
    result_.rows = rows_of(false);
    if (has_debug_frame) result_.rows = RowList::overlay(result_.rows, rows_of(true));
    result_.rows.shrink_to_fit();
    result_.rules = dictionary_.pool();
    return std::move(result_);
  }

 private:
  bool is_debug(const FdePlace& place) const { return sections_[place.section].is_debug_frame(); }
  const Fde& fde_at(const FdePlace& place) const {
    return sections_[place.section].entries().fdes[place.index];
  }

  // Keeps the FDEs of the 4 GiB that have the most: a wrong one far away costs no other its place.
  void keep_one_window() {
    size_t best = 0, best_count = 0;
    for (size_t first = 0, behind = 0; first < places_.size(); ++first) {
      ElfAddr start = places_[first].start;
      while (behind < places_.size() && places_[behind].start.distance_from(start) < kReach) ++behind;
      if (behind - first > best_count) {
        best = first;
        best_count = behind - first;
      }
    }
    result_.unreadable += places_.size() - best_count;
    places_.erase(places_.begin() + best + best_count, places_.end());
    places_.erase(places_.begin(), places_.begin() + best);
  }

  // An FDE ends where the next one starts, whatever size it gives. Readers that search .eh_frame_hdr see
  // overlapping FDEs the same way, and a wrong size hides nothing behind it. Of two at one place the first in
  // the file stands.
  RowList rows_of(bool of_debug_frame) {
    RowList rows;
    const FdePlace* last = nullptr;
    for (const FdePlace& place : places_) {
      if (is_debug(place) != of_debug_frame || (last != nullptr && last->start == place.start)) continue;
      if (last != nullptr) append_rows(*last, place.start.distance_from(result_.lowest), rows);
      last = &place;
    }
    if (last != nullptr) append_rows(*last, kReach, rows);
    return rows;
  }

  // `limit`: where the FDE must end, as a distance from the lowest.
  void append_rows(const FdePlace& place, uint64_t limit, RowList& rows) {
    const Fde& fde = fde_at(place);
    uint64_t start = fde.start.distance_from(result_.lowest);
    uint64_t end = start + std::min(fde.size, limit - start);
    bool is_whole = fde.size <= kReach - start;
    // One damaged FDE must not make a root of what lies around it: every stack would seem complete there.
    bool may_be_root = fde.size <= kLongestRoot && fde.size <= limit - start;
    CfiProgram* program = sections_[place.section].begin(fde);
    uint64_t written = start;
    while (program != nullptr && written < end && program->next_row()) {
      const FrameState& state = program->state();
      bool is_root = state.of(Register::rip).kind == RegisterRule::Kind::kUndefined;
      auto number = is_root && !may_be_root ? std::nullopt : dictionary_.number_of(state);
      if (!number) is_whole = false;
      rows.append(static_cast<uint32_t>(program->row_start() - result_.lowest.value),
                  number.value_or(RowList::kGap));
      written = program->row_end() - result_.lowest.value;
    }
    rows.append(static_cast<uint32_t>(std::min(written, end)), RowList::kGap);
    if (program == nullptr || program->is_damaged() || !is_whole) ++result_.unreadable;
  }

  RuleDictionary dictionary_;
  std::deque<ParsedSection> sections_;
  std::vector<FdePlace> places_;
  CompiledCfi result_;
};

}  // namespace

CompiledCfi compile_cfi(std::span<const FrameSection> sections) { return Compiler(sections).run(); }

}  // namespace jitprof
