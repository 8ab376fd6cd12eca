// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbol_table.h"

#include <elf.h>

#include <algorithm>

namespace jitprof {
namespace {

uint8_t rank_of(const ElfSymbol& symbol) {
  uint8_t rank = 0;
  if (symbol.type != STT_NOTYPE) rank |= 32;
  if (symbol.size != 0) rank |= 16;
  if (symbol.binding == STB_GLOBAL) rank |= 8;
  if (symbol.binding == STB_WEAK) rank |= 4;
  // Mangled names begin with an underscore too, but then all aliases do.
  if (!symbol.name.starts_with('_')) rank |= 2;
  return rank;
}

std::string_view without_version(std::string_view name) {
  size_t version = name.find('@');
  return version == std::string_view::npos || version == 0 ? name : name.substr(0, version);
}

std::vector<std::pair<uint64_t, uint64_t>> code_sections(const ElfFile& file) {
  std::vector<std::pair<uint64_t, uint64_t>> sections;
  for (const ElfSection& section : file.sections()) {
    constexpr uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
    if ((section.flags & kCode) != kCode || section.size > UINT64_MAX - section.start.value) continue;
    sections.emplace_back(section.start.value, section.start.value + section.size);
  }
  std::sort(sections.begin(), sections.end());
  return sections;
}

// The end of the code section around `start`, or `start` itself.
uint64_t section_end(const std::vector<std::pair<uint64_t, uint64_t>>& sections, uint64_t start) {
  auto after = std::upper_bound(sections.begin(), sections.end(), std::pair(start, UINT64_MAX));
  if (after == sections.begin()) return start;
  uint64_t end = std::prev(after)->second;
  return std::max(end, start);
}

}  // namespace

void SymbolTable::add(const ElfFile& file) {
  for (const ElfSymbol& symbol : file.code_symbols()) {
    if (symbol.name.empty()) continue;
    uint64_t size = std::min(symbol.size, UINT64_MAX - symbol.start.value);
    symbols_.push_back(
        {{symbol.start, symbol.start.plus(size), without_version(symbol.name)}, size != 0, rank_of(symbol)});
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const Entry& a, const Entry& b) {
    if (a.symbol.start != b.symbol.start) return a.symbol.start < b.symbol.start;
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.symbol.name < b.symbol.name;
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Entry& a, const Entry& b) { return a.symbol.start == b.symbol.start; }),
                 symbols_.end());

  const auto sections = code_sections(file);
  uint64_t furthest = 0;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    Symbol& symbol = symbols_[i].symbol;
    if (!symbols_[i].has_size) {
      uint64_t end = section_end(sections, symbol.start.value);
      if (i + 1 < symbols_.size()) end = std::min(end, symbols_[i + 1].symbol.start.value);
      symbol.end = {std::max(end, symbol.start.value)};
    }
    furthest = std::max(furthest, symbol.end.value);
    symbols_[i].furthest_end = furthest;
  }
}

const SymbolTable::Symbol* SymbolTable::find(ElfAddr position) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), position,
                                [](ElfAddr p, const Entry& entry) { return p < entry.symbol.start; });
  const Symbol* label = nullptr;
  while (after != symbols_.begin()) {
    const Entry& entry = *--after;
    if (entry.furthest_end <= position.value) break;
    if (position >= entry.symbol.end) continue;
    // A label inside a function (hand-written assembly) is no function of its own.
    if (entry.has_size) return &entry.symbol;
    if (label == nullptr) label = &entry.symbol;
  }
  return label;
}

const SymbolTable::Symbol* SymbolTable::find_start(ElfAddr position) const {
  auto found = std::lower_bound(symbols_.begin(), symbols_.end(), position,
                                [](const Entry& entry, ElfAddr p) { return entry.symbol.start < p; });
  return found != symbols_.end() && found->symbol.start == position ? &found->symbol : nullptr;
}

}  // namespace jitprof
