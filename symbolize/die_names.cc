// SPDX-License-Identifier: Apache-2.0
#include "symbolize/die_names.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "symbolize/demangler.h"
#include "symbolize/type_spelling.h"

namespace jitprof {
namespace {

constexpr unsigned kBudget = 20'000;
constexpr unsigned kMaxDepth = 64;
constexpr size_t kMaxText = 64 * 1024;

constexpr const char* kUnnamed = "unnamed type";

bool is_type(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_enumeration_type;
}

// C++ functions that others may call by name but that have no mangled name: extern "C".
bool is_extern_c(const std::vector<Dwarf_Die>& origins, const std::optional<Dwarf_Die>& scope) {
  Dwarf_Die around = scope.value_or(Dwarf_Die{});
  if (scope.has_value() && dwarf_tag(&around) != DW_TAG_namespace) return false;
  return std::any_of(origins.begin(), origins.end(),
                     [](const Dwarf_Die& die) { return flag_of(die, DW_AT_external); });
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

// The call operator among a type's members, which makes the type a closure.
std::optional<Dwarf_Die> call_operator(Dwarf_Die type) {
  DieWalk steps;
  for (auto member = steps.child(type); member.has_value(); member = steps.sibling(*member)) {
    if (dwarf_tag(&*member) == DW_TAG_subprogram &&
        string_of(*member, DW_AT_name).starts_with("operator()")) {
      return member;
    }
  }
  return std::nullopt;
}

// Closures are numbered among those of one signature; g++ before 13 counted all of a function's.
bool numbers_all_closures(Dwarf_Die type) {
  std::optional<Dwarf_Die> unit = unit_of(type);
  std::string_view producer = unit.has_value() ? string_of(*unit, DW_AT_producer) : "";
  if (!producer.starts_with("GNU C++")) return false;
  size_t version = producer.find(' ', 7);
  return version != std::string_view::npos && std::atoi(producer.data() + version + 1) < 13;
}

// g++ up to 11 names closure types "<lambda(int)>", later ones not at all.
bool is_unnamed(Dwarf_Die type) {
  std::string_view name = string_of(type, DW_AT_name);
  return name.empty() || name.starts_with('<');
}

// The unnamed types that stand directly, or in blocks only, in a scope.
void collect_unnamed_types(DieWalk& steps, Dwarf_Die scope, unsigned depth, std::vector<Dwarf_Die>& types) {
  if (depth > kMaxDepth) return;
  for (auto die = steps.child(scope); die.has_value(); die = steps.sibling(*die)) {
    int tag = dwarf_tag(&*die);
    if (tag == DW_TAG_lexical_block) collect_unnamed_types(steps, *die, depth + 1, types);
    if (is_type(tag) && is_unnamed(*die)) types.push_back(*die);
  }
}

}  // namespace

std::string DieNames::qualified(Dwarf_Die die) {
  budget_ = kBudget;
  depth_ = 0;
  return qualified_name(die);
}

bool DieNames::has_scope(Dwarf_Die die) { return enclosing(origins_of(die).back()).has_value(); }

bool DieNames::spend() {
  if (budget_ == 0) return false;
  --budget_;
  return true;
}

std::optional<Dwarf_Die> DieNames::enclosing(const Dwarf_Die& die) {
  std::optional<Dwarf_Die> unit = unit_of(die);
  if (!unit.has_value()) return std::nullopt;
  auto found = scopes_.find(unit->addr);
  if (found == scopes_.end()) found = scopes_.emplace(unit->addr, ScopeIndex(*unit)).first;
  return found->second.enclosing(die);
}

std::string DieNames::qualified_name(Dwarf_Die die) {
  if (auto known = names_.find(die.addr); known != names_.end()) return known->second;
  if (!spend() || depth_ > kMaxDepth) return std::string(string_of(die, DW_AT_name));
  ++depth_;
  std::vector<Dwarf_Die> origins = origins_of(die);
  std::string name;
  for (auto origin = origins.rbegin(); origin != origins.rend() && name.empty(); ++origin) {
    name = demangle(without_clone_suffix(linkage_name_of(*origin))).name;
  }
  if (name.empty()) {
    name = own_name(origins);
    std::optional<Dwarf_Die> scope = name.empty() ? std::nullopt : enclosing(origins.back());
    bool is_function = dwarf_tag(&die) == DW_TAG_subprogram || dwarf_tag(&die) == DW_TAG_inlined_subroutine;
    if (scope.has_value() && !(is_function && is_extern_c(origins, scope))) {
      std::string around = qualified_name(*scope);
      if (!around.empty() && around.size() + name.size() < kMaxText) name = around + "::" + name;
    }
  }
  --depth_;
  // A name cut short by the budget must not be handed to others.
  if (budget_ > 0) names_.emplace(die.addr, name);
  return name;
}

std::string DieNames::own_name(const std::vector<Dwarf_Die>& origins) {
  Dwarf_Die declared = origins.back();
  int tag = dwarf_tag(&declared);
  if (is_type(tag) && is_unnamed(declared)) return unnamed_type(declared);
  std::string_view raw = string_of(declared, DW_AT_name);
  for (auto origin = origins.rbegin(); origin != origins.rend() && raw.empty(); ++origin) {
    raw = string_of(*origin, DW_AT_name);
  }
  if (raw.empty() && tag == DW_TAG_namespace) return "(anonymous namespace)";
  if (!raw.ends_with('>')) return std::string(raw);
  for (auto origin = origins.rbegin(); origin != origins.rend(); ++origin) {
    std::optional<std::string> arguments = template_arguments(*origin, raw);
    if (!arguments.has_value()) continue;
    std::string name(name_before_arguments(raw));
    if (name.ends_with('<')) name += ' ';
    name += "<" + *arguments + (arguments->ends_with('>') ? " >" : ">");
    return name.size() < kMaxText ? name : std::string(raw);
  }
  return raw.size() < kMaxText ? respelled(std::string(raw)) : std::string(raw);
}

// "lambda(int)" or "unnamed type", to which a number is added. The instances of a generic lambda do not tell
// which of its parameters are auto; they may even be of the closure's own type.
std::string DieNames::closure_or_unnamed(Dwarf_Die type) {
  std::optional<Dwarf_Die> call = call_operator(type);
  if (!call.has_value()) return kUnnamed;
  bool is_generic = string_of(*call, DW_AT_name).ends_with('>');
  return "lambda(" + (is_generic ? "auto" : parameters(*call)) + ")";
}

std::string DieNames::unnamed_type(Dwarf_Die type) {
  std::string kind = closure_or_unnamed(type);
  std::vector<Dwarf_Die> types;
  DieWalk steps;
  std::optional<Dwarf_Die> scope = enclosing(type);
  if (!scope.has_value()) scope = unit_of(type);
  if (scope.has_value()) collect_unnamed_types(steps, *scope, 0, types);
  // The mangled name counts them in the order of the source.
  auto place = [](const Dwarf_Die& die) {
    return std::tuple(number_of(die, DW_AT_decl_line).value_or(0),
                      number_of(die, DW_AT_decl_column).value_or(0), die.addr);
  };
  bool counts_all = numbers_all_closures(type) && kind != kUnnamed;
  unsigned number = 1;
  for (const Dwarf_Die& other : types) {
    if (!spend()) break;
    if (other.addr == type.addr || place(other) > place(type)) continue;
    std::string other_kind = closure_or_unnamed(other);
    if (counts_all ? other_kind != kUnnamed : other_kind == kind) ++number;
  }
  return "{" + kind + "#" + std::to_string(number) + "}";
}

std::optional<std::string> DieNames::template_arguments(Dwarf_Die die, std::string_view raw_name) {
  std::vector<std::string> arguments;
  DieWalk steps;
  add_template_arguments(steps, die, split_arguments(raw_name), arguments);
  if (arguments.empty()) return std::nullopt;
  return joined(arguments);
}

void DieNames::add_template_arguments(DieWalk& steps, Dwarf_Die parent, const std::vector<std::string>& raw,
                                      std::vector<std::string>& arguments) {
  for (auto die = steps.child(parent); die.has_value(); die = steps.sibling(*die)) {
    switch (dwarf_tag(&*die)) {
      case DW_TAG_template_type_parameter:
        arguments.push_back(type_text(reference_of(*die, DW_AT_type), ""));
        break;
      case DW_TAG_template_value_parameter: {
        std::optional<std::string> value = template_value(*die);
        size_t index = arguments.size();
        arguments.push_back(value.has_value() ? *value : index < raw.size() ? raw[index] : "?");
        break;
      }
      case DW_TAG_GNU_template_template_param:
        arguments.emplace_back(string_of(*die, DW_AT_GNU_template_name));
        break;
      case DW_TAG_GNU_template_parameter_pack:
        if (spend()) add_template_arguments(steps, *die, raw, arguments);
        break;
      default:
        break;
    }
  }
}

std::optional<std::string> DieNames::template_value(Dwarf_Die parameter) {
  std::string type = type_text(reference_of(parameter, DW_AT_type), "");
  bool is_unsigned = type.starts_with("unsigned") || type == "bool" || type == "char";
  if (is_unsigned) {
    std::optional<uint64_t> value = number_of(parameter, DW_AT_const_value);
    if (!value.has_value()) return std::nullopt;
    return literal_text(type, std::to_string(*value));
  }
  std::optional<int64_t> value = signed_number_of(parameter, DW_AT_const_value);
  if (!value.has_value()) return std::nullopt;
  return literal_text(type, std::to_string(*value));
}

std::string DieNames::parameters(Dwarf_Die function) {
  std::vector<std::string> types;
  DieWalk steps;
  for (auto die = steps.child(function); die.has_value(); die = steps.sibling(*die)) {
    int tag = dwarf_tag(&*die);
    if (tag == DW_TAG_unspecified_parameters) types.emplace_back("...");
    if (tag != DW_TAG_formal_parameter || flag_of(*die, DW_AT_artificial)) continue;
    if (!spend()) break;
    types.push_back(type_text(reference_of(*die, DW_AT_type), ""));
  }
  return joined(types);
}

std::string DieNames::type_text(std::optional<Dwarf_Die> type, const std::string& declarator) {
  if (!type.has_value()) return "void" + declarator;
  if (!spend() || depth_ > kMaxDepth) return "?" + declarator;
  ++depth_;
  std::string text;
  std::optional<Dwarf_Die> target = reference_of(*type, DW_AT_type);
  switch (dwarf_tag(&*type)) {
    case DW_TAG_pointer_type:
      text = type_text(target, "*" + declarator);
      break;
    case DW_TAG_reference_type:
      text = type_text(target, "&" + declarator);
      break;
    case DW_TAG_rvalue_reference_type:
      text = type_text(target, "&&" + declarator);
      break;
    case DW_TAG_const_type:
      text = type_text(target, " const" + declarator);
      break;
    case DW_TAG_volatile_type:
      text = type_text(target, " volatile" + declarator);
      break;
    case DW_TAG_typedef:
      text = type_text(target, declarator);
      break;
    case DW_TAG_ptr_to_member_type: {
      std::optional<Dwarf_Die> owner = reference_of(*type, DW_AT_containing_type);
      std::string member = (owner.has_value() ? qualified_name(*owner) : "?") + "::*" + declarator;
      bool is_function = target.has_value() && dwarf_tag(&*target) == DW_TAG_subroutine_type;
      text = type_text(target, is_function ? member : " " + member);
      break;
    }
    case DW_TAG_subroutine_type:
      text = type_text(target, " ") + (declarator.empty() ? "" : "(" + declarator + ")") + "(" +
             parameters(*type) + ")";
      break;
    case DW_TAG_array_type:
      text =
          type_text(target, " ") + (declarator.empty() ? "" : "(" + declarator + ") ") + array_extents(*type);
      break;
    case DW_TAG_base_type:
      text = std::string(demangled_spelling(string_of(*type, DW_AT_name))) + declarator;
      break;
    default:
      text = qualified_name(*type) + declarator;
      break;
  }
  --depth_;
  return text.size() < kMaxText ? text : std::string("?");
}

}  // namespace jitprof
