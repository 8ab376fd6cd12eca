// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/unwind_table.h"

#include "unwind/cfi/cfi_compiler.h"

namespace jitprof {
namespace {

// Pages are made as large as it takes to have so many rows on the average one: 512 bytes of code in libc. A
// row's start takes 16 bits of its page.
constexpr uint64_t kRowsPerPage = 16;
constexpr unsigned kMaxPageShift = 16;

}  // namespace

UnwindTable UnwindTable::compile(const ElfFile& elf) { return compile(ElfFrameSections(elf).all()); }

UnwindTable UnwindTable::compile(std::span<const FrameSection> sections) {
  return UnwindTable(compile_cfi(sections));
}

UnwindTable::UnwindTable(CompiledCfi compiled)
    : lowest_(compiled.lowest), rules_(std::move(compiled.rules)), unreadable_(compiled.unreadable) {
  if (!compiled.rows.starts().empty()) take_rows(compiled.rows);
}

void UnwindTable::take_rows(const RowList& rows) {
  const std::vector<uint32_t>& starts = rows.starts();
  size_ = starts.back();
  rules_of_rows_ = rows.rules();
  uint64_t max_pages = starts.size() / kRowsPerPage + 1;
  while (size_ >> page_shift_ >= max_pages && page_shift_ < kMaxPageShift) ++page_shift_;
  uint64_t page_mask = (uint64_t{1} << page_shift_) - 1;
  starts_.reserve(starts.size());
  pages_.reserve((size_ >> page_shift_) + 2);
  for (uint32_t start : starts) {
    pages_.resize((start >> page_shift_) + 1, static_cast<uint32_t>(starts_.size()));
    starts_.push_back(static_cast<uint16_t>(start & page_mask));
  }
  pages_.push_back(static_cast<uint32_t>(starts_.size()));
}

size_t UnwindTable::bytes() const {
  return sizeof *this + (starts_.capacity() + rules_of_rows_.capacity()) * sizeof(uint16_t) +
         pages_.capacity() * sizeof(uint32_t) + rules_.bytes();
}

}  // namespace jitprof
