// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/function_starts.h"

#include <elf.h>

#include <algorithm>

#include "unwind/jit/jit_code.h"

namespace jitprof {
namespace {

// A label that a file keeps to itself and that has no type stands anywhere in hand-written code.
bool starts_function(const ElfSymbol& symbol) {
  return symbol.type != STT_NOTYPE || symbol.binding != STB_LOCAL;
}

bool is_moved_part(std::string_view name) { return name.find(".cold") != std::string_view::npos; }

}  // namespace

std::vector<FunctionStarts::Function> FunctionStarts::functions_of(const Module& module) {
  std::vector<Function> functions;
  if (!module.elf) return functions;
  for (const ElfSymbol& symbol : module.elf->code_symbols()) {
    if (starts_function(symbol)) functions.push_back({symbol.start, symbol.size, symbol.name});
  }
  for (const auto& [start, published] : module.published_names)
    functions.push_back({start, published.size, published.name});
  // Of several names for one start the one with the largest size counts.
  std::stable_sort(functions.begin(), functions.end(), [](const Function& left, const Function& right) {
    return left.start != right.start ? left.start < right.start : left.size > right.size;
  });
  auto is_same = [](const Function& left, const Function& right) { return left.start == right.start; };
  functions.erase(std::unique(functions.begin(), functions.end(), is_same), functions.end());
  functions.shrink_to_fit();
  return functions;
}

std::optional<FunctionCode> FunctionStarts::of(const Module& module, ElfAddr position) const {
  if (module.jit != nullptr && !module.elf) {
    if (position.value >= module.jit->bytes.size()) return std::nullopt;
    return FunctionCode{{0}, module.jit->bytes, module.jit->name};
  }
  Entry& entry = entry_of(module);
  std::call_once(entry.is_made, [&] { entry.functions = functions_of(module); });
  const auto& functions = entry.functions;
  auto next =
      std::upper_bound(functions.begin(), functions.end(), position,
                       [](ElfAddr wanted, const Function& function) { return wanted < function.start; });
  if (next == functions.begin()) return std::nullopt;
  const Function& function = *std::prev(next);
  uint64_t size = function.size;
  if (size == 0 && next != functions.end()) size = next->start.distance_from(function.start);
  if (size != 0 && position.distance_from(function.start) >= size) return std::nullopt;
  if (is_moved_part(function.name)) return std::nullopt;
  Bytes bytes = module.code_from(function.start);
  if (size != 0) bytes = bytes.first(std::min<uint64_t>(size, bytes.size()));
  if (position.distance_from(function.start) >= bytes.size()) return std::nullopt;
  return FunctionCode{function.start, bytes, function.name, function.size != 0};
}

FunctionStarts::Entry& FunctionStarts::entry_of(const Module& module) const {
  std::lock_guard lock(mutex_);
  Entry*& entry = by_module_[module.id];
  if (entry == nullptr) entry = &entries_.emplace_back();
  return *entry;
}

}  // namespace jitprof
