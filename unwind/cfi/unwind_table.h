// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/elf_file.h"
#include "base/position.h"
#include "unwind/cfi/frame_section.h"
#include "unwind/cfi/row_list.h"
#include "unwind/cfi/rule_pool.h"
#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

struct CompiledCfi;

// All CFI of one module, ready for lookups: four bytes a row, each distinct rule once, and an index over
// pages of code. Holds no view of what it was made from. Immutable, so threads share it; rules stay where
// they are for as long as the table, or what it was moved to, lives.
class UnwindTable {
 public:
  UnwindTable() = default;  // covers nothing
  // .eh_frame, and .debug_frame where .eh_frame has nothing (code built with -fno-asynchronous-unwind-tables
  // -g, Go).
  static UnwindTable compile(const ElfFile& elf);
  // Of code that brings its tables along.
  static UnwindTable compile(std::span<const FrameSection> sections);
  // Of rows that were made otherwise.
  explicit UnwindTable(CompiledCfi compiled);

  UnwindTable(UnwindTable&&) = default;
  UnwindTable& operator=(UnwindTable&&) = default;

  // nullptr where no row covers the position.
  const UnwindRule* find(ElfAddr position) const {
    uint64_t into = position.distance_from(lowest_);
    if (into >= size_) return nullptr;
    const uint32_t* page = &pages_[into >> page_shift_];
    uint16_t in_page = static_cast<uint16_t>(into & ((uint64_t{1} << page_shift_) - 1));
    // Those of the page's rows that start at the position or before. If there is none, the last row of an
    // earlier page goes on.
    uint32_t behind = page[0];
    for (uint32_t count = page[1] - page[0]; count > 0;) {
      uint32_t half = count / 2;
      bool is_before = starts_[behind + half] <= in_page;
      behind = is_before ? behind + half + 1 : behind;
      count = is_before ? count - half - 1 : half;
    }
    uint16_t number = rules_of_rows_[behind - 1];
    return number == RowList::kGap ? nullptr : &rules_.rules[number];
  }

  size_t row_count() const { return starts_.size(); }  // gaps included
  size_t rule_count() const { return rules_.rules.size(); }
  size_t bytes() const;  // of memory
  // FDEs that could not be read, or only in part, or that the table has no room for.
  uint64_t unreadable() const { return unreadable_; }

 private:
  void take_rows(const RowList& rows);

  ElfAddr lowest_;
  uint64_t size_ = 0;             // of the code from lowest_ on to the end of the last row that is no gap
  unsigned page_shift_ = 0;       // at most 16
  std::vector<uint16_t> starts_;  // of each row, from its page's first byte on
  std::vector<uint16_t> rules_of_rows_;  // by row
  std::vector<uint32_t>
      pages_;  // by page of code: its first row that starts there; and once more for the end
  RulePool rules_;
  uint64_t unreadable_ = 0;
};

}  // namespace jitprof
