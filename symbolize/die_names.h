// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolize/die.h"
#include "symbolize/scope_index.h"

namespace jitprof {

// Builds the names of functions and types from the DIEs around them, in the demangler's spelling ("unsigned
// long", "char const*", "(anonymous namespace)", "{lambda(int)#1}"): compilers spell DW_AT_name their own way
// ("f<long unsigned int>"), and g++ gives static functions no linkage name to demangle. Caches; one per
// Dwarf.
//
// What DIEs do not tell reads differently from the demangled name: "auto" parameters of a generic lambda, the
// parameter list in a template argument that is a function, and the number of a lambda whose twin of the same
// signature was dropped from the debug information.
class DieNames {
 public:
  // A function's or type's name with its scopes and template arguments, without parameters; empty when it has
  // no name at all.
  std::string qualified(Dwarf_Die die);

  // Whether a function stands inside a namespace, type or function. At -g1 and -gmlt none does.
  bool has_scope(Dwarf_Die die);

 private:
  std::string qualified_name(Dwarf_Die die);
  std::string own_name(const std::vector<Dwarf_Die>& origins);
  std::string unnamed_type(Dwarf_Die type);
  std::string closure_or_unnamed(Dwarf_Die type);
  std::optional<std::string> template_arguments(Dwarf_Die die, std::string_view raw_name);
  void add_template_arguments(DieWalk& steps, Dwarf_Die parent, const std::vector<std::string>& raw,
                              std::vector<std::string>& arguments);
  std::optional<std::string> template_value(Dwarf_Die parameter);
  std::string parameters(Dwarf_Die function);
  // `declarator` is what a declaration writes behind (or inside) the type: "*", " const&".
  std::string type_text(std::optional<Dwarf_Die> type, const std::string& declarator);
  std::optional<Dwarf_Die> enclosing(const Dwarf_Die& die);
  bool spend();

  std::unordered_map<const void*, ScopeIndex> scopes_;  // by unit DIE
  std::unordered_map<const void*, std::string> names_;  // by DIE
  unsigned budget_ = 0;  // of DIEs to visit for one name: damaged types may refer to each other in circles
  unsigned depth_ = 0;
};

}  // namespace jitprof
