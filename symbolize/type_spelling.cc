// SPDX-License-Identifier: Apache-2.0
#include "symbolize/type_spelling.h"

#include <algorithm>
#include <array>
#include <utility>

namespace jitprof {
namespace {

using Spelling = std::pair<std::string_view, std::string_view>;
constexpr std::array<Spelling, 11> kBaseTypes = {{
    {"short int", "short"},
    {"short unsigned int", "unsigned short"},
    {"unsigned short int", "unsigned short"},
    {"long int", "long"},
    {"long unsigned int", "unsigned long"},
    {"unsigned long int", "unsigned long"},
    {"long long int", "long long"},
    {"long long unsigned int", "unsigned long long"},
    {"unsigned long long int", "unsigned long long"},
    {"__int128 unsigned", "unsigned __int128"},
    {"std::nullptr_t", "decltype(nullptr)"},
}};

constexpr std::array<Spelling, 6> kLiteralSuffixes = {{
    {"int", ""},
    {"unsigned int", "u"},
    {"long", "l"},
    {"unsigned long", "ul"},
    {"long long", "ll"},
    {"unsigned long long", "ull"},
}};

// Operators with a "<" in them, longer ones first.
constexpr std::array<std::string_view, 8> kAngleOperators = {
    "<<=", "<=>", "<<", "<=", "<", ">>=", ">>", "->*"};

}  // namespace

std::string_view demangled_spelling(std::string_view base_type) {
  for (auto [written, demangled] : kBaseTypes) {
    if (base_type == written) return demangled;
  }
  return base_type;
}

std::string literal_text(std::string_view type, const std::string& digits) {
  if (type == "bool") return digits == "0" ? "false" : "true";
  for (auto [name, suffix] : kLiteralSuffixes) {
    if (type == name) return digits + std::string(suffix);
  }
  return "(" + std::string(type) + ")" + digits;
}

std::string_view name_before_arguments(std::string_view name) {
  size_t from = 0;
  if (name.starts_with("operator")) {
    from = 8;
    for (std::string_view symbol : kAngleOperators) {
      if (name.substr(8).starts_with(symbol)) {
        from += symbol.size();
        break;
      }
    }
  }
  std::string_view before = name.substr(0, name.find('<', from));
  while (before.ends_with(' ')) before.remove_suffix(1);
  return before;
}

std::vector<std::string> split_arguments(std::string_view name) {
  std::vector<std::string> arguments;
  std::string_view rest = name.substr(name_before_arguments(name).size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with('<') || !rest.ends_with('>')) return arguments;
  rest = rest.substr(1, rest.size() - 2);
  int depth = 0;
  std::string argument;
  auto finish = [&] {
    while (argument.ends_with(' ')) argument.pop_back();
    if (argument.starts_with("(& ") && argument.ends_with(')'))
      argument = "&" + argument.substr(3, argument.size() - 4);
    arguments.push_back(std::move(argument));
    argument.clear();
  };
  for (char c : rest) {
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      finish();
    } else if (c != ' ' || !argument.empty()) {
      argument += c;
    }
  }
  finish();
  return arguments;
}

std::string respelled(const std::string& name, unsigned depth) {
  std::vector<std::string> arguments = split_arguments(name);
  if (arguments.empty() || depth > 16) return std::string(demangled_spelling(name));
  std::string text(name_before_arguments(name));
  if (text.ends_with('<')) text += ' ';
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i == 0 ? "<" : ", ") + respelled(arguments[i], depth + 1);
  return text + (text.ends_with('>') ? " >" : ">");
}

std::string array_extents(Dwarf_Die array) {
  std::string extents;
  DieWalk steps;
  for (auto die = steps.child(array); die.has_value(); die = steps.sibling(*die)) {
    if (dwarf_tag(&*die) != DW_TAG_subrange_type) continue;
    std::optional<uint64_t> count = number_of(*die, DW_AT_count);
    if (auto last = number_of(*die, DW_AT_upper_bound); last.has_value() && !count.has_value())
      count = *last + 1;
    extents += count.has_value() ? "[" + std::to_string(*count) + "]" : "[]";
  }
  return extents.empty() ? "[]" : extents;
}

}  // namespace jitprof
