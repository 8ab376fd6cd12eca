// SPDX-License-Identifier: Apache-2.0
#include "symbolize/jit_name.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "symbolize/demangler.h"

namespace jitprof {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Takes ":16" off the end of `text`.
bool take_number(std::string_view& text, uint32_t& number) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !is_number(text.substr(colon + 1))) return false;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
  text = text.substr(0, colon);
  return true;
}

// V8's marks, before the function's name: "~" interpreted, "^" Sparkplug, "+" Maglev, "*" TurboFan, "o+" and
// "o*" for code entered in the middle of a loop; V8 13 and later put "'" behind a mark.
std::string take_tier(std::string_view& text) {
  std::string_view rest = text;
  if (rest.starts_with("o+") || rest.starts_with("o*")) rest.remove_prefix(1);
  if (rest.empty()) return "";
  const char* tier = nullptr;
  switch (rest.front()) {
    case '~':
      tier = "interpreted";
      break;
    case '^':
      tier = "baseline";
      break;
    case '+':
    case '*':
      tier = "optimized";
      break;
    default:
      return "";
  }
  rest.remove_prefix(1);
  if (rest.starts_with('\'')) rest.remove_prefix(1);
  text = rest;
  return tier;
}

// "leaf-0-turbofan": a WebAssembly function, its number and its compiler.
bool read_wasm_name(std::string_view text, JitName& name) {
  bool is_baseline = text.ends_with("-liftoff");
  if (!is_baseline && !text.ends_with("-turbofan")) return false;
  text = text.substr(0, text.rfind('-'));
  size_t dash = text.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || !is_number(text.substr(dash + 1))) return false;
  name.function = text.substr(0, dash);
  name.tier = is_baseline ? "baseline" : "optimized";
  return true;
}

// Where "mid chain.js:16:13" has its file: accessors are called "get size".
size_t end_of_function(std::string_view text) {
  size_t from = 0;
  for (std::string_view word : {"get ", "set ", "async ", "bound "}) {
    if (text.starts_with(word)) from = word.size();
  }
  size_t end = text.find(' ', from);
  // A function may be called "get".
  return end == std::string_view::npos ? text.find(' ') : end;
}

void read_script_name(std::string_view text, JitName& name) {
  name.tier = take_tier(text);
  if (name.tier.empty() && read_wasm_name(text, name)) return;
  // V8 10 leaves the column out.
  uint32_t last = 0;
  std::string_view before = text;
  bool is_placed = take_number(before, last);
  if (is_placed && !take_number(before, name.line)) name.line = last;
  size_t space = is_placed ? end_of_function(before) : std::string_view::npos;
  if (space == std::string_view::npos) {
    name.line = 0;
    name.function = text;
    return;
  }
  name.function = before.substr(0, space);
  std::string_view file = before.substr(space + 1);
  if (file.starts_with("file://")) file.remove_prefix(7);
  name.file = file;
}

bool read_v8_name(std::string_view text, JitName& name) {
  constexpr std::array<std::string_view, 5> kScripts = {
      "JS:", "Eval:", "Script:", "LazyCompile:", "Function:"};
  for (std::string_view kind : kScripts) {
    if (!text.starts_with(kind)) continue;
    read_script_name(text.substr(kind.size()), name);
    if (name.function.empty())
      name.function = kind == "Script:" || kind == "Eval:" ? "(top level)" : "(anonymous)";
    return true;
  }
  constexpr std::string_view kBuiltin = "Builtin:";
  if (!text.starts_with(kBuiltin)) return false;
  // The symbol that builds of V8 with symbols have for it.
  name.function = "Builtins_" + std::string(text.substr(kBuiltin.size()));
  return true;
}

// "py::mid:/srv/chain.py".
bool read_python_name(std::string_view text, JitName& name) {
  constexpr std::string_view kPython = "py::";
  if (!text.starts_with(kPython)) return false;
  text.remove_prefix(kPython.size());
  size_t colon = text.find(':');
  name.function = text.substr(0, colon);
  if (colon != std::string_view::npos) name.file = text.substr(colon + 1);
  return !name.function.empty();
}

}  // namespace

JitName read_jit_name(std::string_view published) {
  JitName name;
  if (read_v8_name(published, name) || read_python_name(published, name)) return name;
  name = JitName();
  // numba calls its wrappers "cpython." and "cfunc." and the mangled name.
  size_t mangled = published.find("_Z");
  bool is_mangled = mangled == 0 || (mangled != std::string_view::npos && published[mangled - 1] == '.');
  std::string demangled = is_mangled ? without_abi_tags(demangle(published.substr(mangled)).name) : "";
  if (!demangled.empty()) name.function = std::string(published.substr(0, mangled)) + demangled;
  if (name.function.empty()) name.function = published.empty() ? "<unnamed>" : published;
  return name;
}

}  // namespace jitprof
