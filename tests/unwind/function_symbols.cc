// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/function_symbols.h"

#include <algorithm>

namespace jitprof::tests {

std::string FunctionSymbols::name_of(const Frame& frame) {
  if (frame.module.is_none()) return "?";
  const Module& module = modules_.module(frame.module);
  if (!module.elf) return "?";
  auto [place, is_new] = sorted_.try_emplace(frame.module.index);
  std::vector<ElfSymbol>& symbols = place->second;
  if (is_new) {
    symbols = module.elf->code_symbols();
    std::erase_if(symbols, [](const ElfSymbol& symbol) { return symbol.size == 0; });
    std::ranges::stable_sort(symbols, {}, &ElfSymbol::start);
  }
  auto after = std::ranges::upper_bound(symbols, frame.position, {}, &ElfSymbol::start);
  if (after == symbols.begin()) return "?";
  const ElfSymbol& symbol = *std::prev(after);
  if (frame.position.distance_from(symbol.start) >= symbol.size) return "?";
  return std::string(symbol.name.substr(0, symbol.name.find('@')));
}

std::string FunctionSymbols::names_of(const KeptWalk& walk) {
  std::string text;
  for (const KeptFrame& kept : walk.frames) {
    std::string name = name_of(kept.frame);
    if (name != "?") text += (text.empty() ? "" : ";") + name;
  }
  return text;
}

}  // namespace jitprof::tests
