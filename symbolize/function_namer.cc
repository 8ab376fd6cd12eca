// SPDX-License-Identifier: Apache-2.0
#include "symbolize/function_namer.h"

#include "symbolize/demangler.h"
#include "symbolize/type_spelling.h"

namespace jitprof {

Function function_of_symbol(std::string_view symbol, Names& names) {
  std::string_view plain = without_clone_suffix(symbol);
  DemangledName demangled = demangle(plain);
  Function function;
  if (demangled.name.empty()) {
    function.name = function.signature = names.intern(plain);
    return function;
  }
  function.name = names.intern(demangled.name);
  function.signature = names.intern(demangled.signature);
  function.linkage_name = names.intern(plain);
  return function;
}

FunctionId FunctionNamer::inlined(const Dwarf_Die& instance) {
  std::vector<Dwarf_Die> origins = origins_of(instance);
  auto [place, is_new] = known_.try_emplace(origins.back().addr);
  if (!is_new) return place->second;
  Function function = from_dies(origins);
  if (function.name.is_none()) function.name = function.signature = names_.intern("<inlined>");
  FunctionId id = names_.add(function);
  // Not through `place`: naming may not add to known_ today, but a reference must not depend on that.
  known_[origins.back().addr] = id;
  return id;
}

FunctionId FunctionNamer::called(const Dwarf_Die& die, std::optional<ElfAddr> entry) {
  auto [place, is_new] = known_.try_emplace(die.addr);
  if (!is_new) return place->second;
  std::vector<Dwarf_Die> origins = origins_of(die);
  Function function = from_dies(origins);
  const SymbolTable::Symbol* symbol = entry.has_value() ? symbols_.find_start(*entry) : nullptr;
  if (symbol != nullptr && (function.name.is_none() || symbol_knows_more(*symbol, origins))) {
    StringId file = function.file;
    uint32_t line = function.line;
    function = function_of_symbol(symbol->name, names_);
    function.file = file;
    function.line = line;
  }
  FunctionId id = function.name.is_none() ? FunctionId() : names_.add(function);
  known_[die.addr] = id;
  return id;
}

Function FunctionNamer::from_dies(const std::vector<Dwarf_Die>& origins) {
  Function function;
  // The declaration's own comes first: it names constructors by the one _ZN1AC4Ev under which g++ inlines
  // them, while each copy has its own (C1, C2), and inlined and called ones must be one function.
  std::string_view linkage;
  for (auto origin = origins.rbegin(); origin != origins.rend() && linkage.empty(); ++origin) {
    linkage = without_clone_suffix(linkage_name_of(*origin));
  }
  if (!linkage.empty()) function = function_of_symbol(linkage, names_);
  if (function.linkage_name.is_none()) {
    // None, or an assembler label (glibc's "__GI___mmap64" for __mmap64), which is not what people call it.
    std::string name = die_names_.qualified(origins.front());
    if (!name.empty()) function.name = function.signature = names_.intern(name);
    if (!linkage.empty()) function.linkage_name = names_.intern(linkage);
  }
  add_declaration(origins, function);
  return function;
}

// Whether the symbol at a function's entry has scopes and template arguments that its DIEs lack. It must be
// about the same function: folded functions share their entry with others.
bool FunctionNamer::symbol_knows_more(const SymbolTable::Symbol& symbol,
                                      const std::vector<Dwarf_Die>& origins) {
  std::string_view name;
  for (const Dwarf_Die& origin : origins) {
    if (!linkage_name_of(origin).empty()) return false;
    if (name.empty()) name = string_of(origin, DW_AT_name);
  }
  std::string_view base = name_before_arguments(name);
  if (!base.starts_with("operator") && symbol.name.find(base) == std::string_view::npos) return false;
  std::string demangled = demangle(without_clone_suffix(symbol.name)).name;
  if (demangled.empty() || die_names_.has_scope(origins.front())) return false;
  return demangled != die_names_.qualified(origins.front());
}

// Where the definition says it is declared, else where the declaration inside its class does.
void FunctionNamer::add_declaration(const std::vector<Dwarf_Die>& origins, Function& function) {
  for (const Dwarf_Die& origin : origins) {
    if (function.file.is_none()) {
      if (auto file = number_of(origin, DW_AT_decl_file)) function.file = lines_.file(origin, *file);
    }
    if (function.line == 0) {
      function.line = static_cast<uint32_t>(number_of(origin, DW_AT_decl_line).value_or(0));
    }
  }
}

}  // namespace jitprof
