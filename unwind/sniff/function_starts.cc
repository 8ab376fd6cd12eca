// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/function_starts.h"

#include <elf.h>

#include <algorithm>
#include <map>

namespace jitprof {
namespace {

// Of a symbol that says nothing of its size, as in most hand-written assembly.
constexpr uint64_t kLongestUnsized = 64 << 10;

bool is_cold_part(const ElfSymbol& symbol) { return symbol.name.find(".cold") != std::string_view::npos; }

// A label has no size, no type, and is seen in its own object only.
bool is_label(const ElfSymbol& symbol) {
  return symbol.size == 0 && symbol.type == STT_NOTYPE && symbol.binding == STB_LOCAL;
}

// A symbol without size does not reach into the next section: behind _init in .init comes the PLT.
class CodeSections {
 public:
  explicit CodeSections(const ElfFile& elf) {
    for (const ElfSection& section : elf.sections()) {
      if ((section.flags & SHF_EXECINSTR) != 0) sizes_[section.start] = section.size;
    }
  }
  // What is left of the section from there on.
  uint64_t room_at(ElfAddr position) const {
    auto behind = sizes_.upper_bound(position);
    if (behind == sizes_.begin()) return 0;
    auto [start, size] = *std::prev(behind);
    uint64_t into = position.distance_from(start);
    return into < size ? size - into : 0;
  }

 private:
  std::map<ElfAddr, uint64_t> sizes_;
};

}  // namespace

FunctionStarts::FunctionStarts(const ElfFile& elf) {
  std::vector<ElfSymbol> symbols = elf.code_symbols();
  std::erase_if(symbols, is_label);
  // The longest first of those that start together.
  std::sort(symbols.begin(), symbols.end(), [](const ElfSymbol& left, const ElfSymbol& right) {
    return left.start != right.start ? left.start < right.start : left.size > right.size;
  });
  CodeSections sections(elf);
  ElfAddr covered;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol& symbol = symbols[i];
    if (symbol.start < covered || (i > 0 && symbol.start == symbols[i - 1].start)) continue;
    uint64_t size = symbol.size;
    if (size == 0) {
      size = std::min(kLongestUnsized, sections.room_at(symbol.start));
      auto is_behind = [&](const ElfSymbol& other) { return other.start > symbol.start; };
      auto next = std::find_if(symbols.begin() + static_cast<std::ptrdiff_t>(i), symbols.end(), is_behind);
      if (next != symbols.end()) size = std::min(size, next->start.distance_from(symbol.start));
    }
    // A hostile size may lead past the end of all places.
    size = std::min(size, UINT64_MAX - symbol.start.value);
    covered = symbol.start.plus(size);
    if (!is_cold_part(symbol)) functions_.push_back({symbol.start, size, symbol.name});
  }
}

std::optional<FunctionStarts::Function> FunctionStarts::find(ElfAddr position) const {
  auto is_before = [](ElfAddr wanted, const Function& function) { return wanted < function.start; };
  auto behind = std::upper_bound(functions_.begin(), functions_.end(), position, is_before);
  if (behind == functions_.begin()) return std::nullopt;
  const Function& function = *std::prev(behind);
  if (position.distance_from(function.start) >= function.size) return std::nullopt;
  return function;
}

}  // namespace jitprof
