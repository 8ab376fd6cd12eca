// SPDX-License-Identifier: Apache-2.0
#include "symbolize/demangler.h"

// libiberty.h, reached through demangle.h, would declare a basename() that clashes with <cstring>'s.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <memory>

namespace jitprof {
namespace {

// The parser recurses about once a character; 16 KiB of "P" need 3 MiB of stack.
constexpr size_t kMaxMangled = 16 * 1024;
constexpr size_t kMaxDemangled = 64 * 1024;
// The D demangler has no output callback. n back references double the text at most 3^(n/3) times.
constexpr size_t kMaxMangledD = 4096;
constexpr long kMaxBackReferencesD = 24;

constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI;

// Where the demanglers print to. They are C code that keeps its state on the stack, so leaving them by
// longjmp leaks nothing: the only way to stop a name of 300 bytes whose substitutions expand for longer than
// 10 s.
struct CappedText {
  std::string text;
  std::jmp_buf too_long;

  static void append(const char* part, size_t size, void* self) {
    auto* capped = static_cast<CappedText*>(self);
    if (size > kMaxDemangled - capped->text.size()) std::longjmp(capped->too_long, 1);
    capped->text.append(part, size);
  }
};

using Component = demangle_component;

std::string print(Component* tree) {
  auto capped = std::make_unique<CappedText>();
  capped->text.reserve(256);
  if (setjmp(capped->too_long) != 0) return {};
  if (cplus_demangle_print_callback(kOptions, tree, CappedText::append, capped.get()) == 0) return {};
  return std::move(capped->text);
}

// Takes the parameters, return type and qualifiers off every function that the name runs through, enclosing
// ones included ("f(int)::{lambda()#1}::operator()() const" -> "f::{lambda()#1}::operator()"), also those
// around a type in the template arguments: debug information names an enclosing function without its
// parameters, and one function must read the same from both sources.
class ParameterRemover {
 public:
  Component* name(Component* part) {
    if (part == nullptr || !spend()) return part;
    auto& left = part->u.s_binary.left;
    auto& right = part->u.s_binary.right;
    switch (part->type) {
      case DEMANGLE_COMPONENT_TYPED_NAME:
      case DEMANGLE_COMPONENT_CONST_THIS:
      case DEMANGLE_COMPONENT_VOLATILE_THIS:
      case DEMANGLE_COMPONENT_RESTRICT_THIS:
      case DEMANGLE_COMPONENT_REFERENCE_THIS:
      case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
      case DEMANGLE_COMPONENT_TRANSACTION_SAFE:
      case DEMANGLE_COMPONENT_NOEXCEPT:
      case DEMANGLE_COMPONENT_THROW_SPEC:
      case DEMANGLE_COMPONENT_CLONE:
        return name(left);
      case DEMANGLE_COMPONENT_LOCAL_NAME:
      case DEMANGLE_COMPONENT_QUAL_NAME:
        left = name(left);
        right = name(right);
        return part;
      case DEMANGLE_COMPONENT_TEMPLATE:
        left = name(left);
        argument(right);
        return part;
      case DEMANGLE_COMPONENT_THUNK:
      case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
      case DEMANGLE_COMPONENT_COVARIANT_THUNK:
      case DEMANGLE_COMPONENT_GUARD:
      case DEMANGLE_COMPONENT_TLS_INIT:
      case DEMANGLE_COMPONENT_TLS_WRAPPER:
        left = name(left);
        return part;
      default:
        return part;
    }
  }

 private:
  // A template argument, a list of them or a part of one: parameters of function types and of functions given
  // as arguments stay.
  void argument(Component* part) {
    if (part == nullptr || !spend()) return;
    switch (part->type) {
      case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
      case DEMANGLE_COMPONENT_ARGLIST:
      case DEMANGLE_COMPONENT_FUNCTION_TYPE:
        argument(part->u.s_binary.left);
        argument(part->u.s_binary.right);
        break;
      case DEMANGLE_COMPONENT_POINTER:
      case DEMANGLE_COMPONENT_REFERENCE:
      case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
      case DEMANGLE_COMPONENT_CONST:
      case DEMANGLE_COMPONENT_VOLATILE:
        argument(part->u.s_binary.left);
        break;
      case DEMANGLE_COMPONENT_LOCAL_NAME:
      case DEMANGLE_COMPONENT_QUAL_NAME:
      case DEMANGLE_COMPONENT_TEMPLATE:
        name(part);
        break;
      default:
        break;
    }
  }

  // Substitutions share parts, so that a walk could visit one exponentially often; and it recurses.
  bool spend() { return budget_-- > 0; }
  int budget_ = 4096;
};

std::string demangle_at_once(const char* mangled, int options) {
  auto capped = std::make_unique<CappedText>();
  if (setjmp(capped->too_long) != 0) return {};
  if (cplus_demangle_v3_callback(mangled, options, CappedText::append, capped.get()) == 0) return {};
  return std::move(capped->text);
}

DemangledName demangle_cxx(const char* mangled) {
  void* memory = nullptr;
  Component* tree = cplus_demangle_v3_components(mangled, kOptions, &memory);
  if (tree == nullptr) {
    // Only this interface tries a second reading of unresolved names ("sr11__is_scalarIT0_EE7__value", as
    // clang writes them). What it leaves of enclosing functions are their parameters.
    DemangledName result{demangle_at_once(mangled, DMGL_ANSI), demangle_at_once(mangled, kOptions)};
    if (result.name.empty()) result.name = result.signature;
    return result;
  }
  DemangledName result;
  result.signature = print(tree);
  // A signature that failed or grew too long says that the tree is not worth a second try.
  if (!result.signature.empty()) result.name = print(ParameterRemover().name(tree));
  if (result.name.empty()) result.name = result.signature;
  std::free(memory);
  return result;
}

// Rust names have no parameters: name and signature are one.
DemangledName demangle_rust(const char* mangled) {
  auto capped = std::make_unique<CappedText>();
  if (setjmp(capped->too_long) != 0) return {};
  if (rust_demangle_callback(mangled, kOptions, CappedText::append, capped.get()) == 0) return {};
  return {capped->text, capped->text};
}

DemangledName demangle_d(const char* mangled) {
  std::string_view text = mangled;
  if (text.size() > kMaxMangledD || std::count(text.begin(), text.end(), 'Q') > kMaxBackReferencesD)
    return {};
  std::unique_ptr<char, decltype(&std::free)> demangled(dlang_demangle(mangled, kOptions), &std::free);
  if (demangled == nullptr) return {};
  DemangledName result{demangled.get(), demangled.get()};
  // "app.main.foo!(int).foo(int)": the parameters are the last parenthesised group.
  if (result.name.ends_with(')')) {
    size_t open = result.name.size();
    int depth = 0;
    while (open > 0) {
      char c = result.name[--open];
      if (c == ')') ++depth;
      if (c == '(' && --depth == 0) break;
    }
    if (open > 0 && result.name[open - 1] != '!') result.name.resize(open);
  }
  return result;
}

}  // namespace

DemangledName demangle(std::string_view mangled) {
  if (mangled.size() < 3 || mangled.size() > kMaxMangled || mangled[0] != '_') return {};
  std::string terminated(mangled);
  switch (mangled[1]) {
    case 'Z': {
      // Legacy Rust names are C++ names that end in a hash; read as C++ the hash would show.
      if (mangled.find("17h") != std::string_view::npos) {
        if (DemangledName rust = demangle_rust(terminated.c_str()); !rust.name.empty()) return rust;
      }
      return demangle_cxx(terminated.c_str());
    }
    case 'R':
      return demangle_rust(terminated.c_str());
    case 'D':
      return demangle_d(terminated.c_str());
    default:
      return {};
  }
}

std::string_view without_clone_suffix(std::string_view symbol) {
  static constexpr std::array<std::string_view, 9> kSuffixes = {
      ".cold", ".part.", ".isra.", ".constprop.", ".lto_priv.", ".llvm.", ".localalias", ".clone.", ".warm"};
  if (size_t version = symbol.find('@'); version != std::string_view::npos && version > 0) {
    symbol = symbol.substr(0, version);
  }
  for (size_t dot = symbol.find('.', 1); dot != std::string_view::npos; dot = symbol.find('.', dot + 1)) {
    std::string_view rest = symbol.substr(dot);
    for (std::string_view suffix : kSuffixes) {
      if (rest.starts_with(suffix)) return symbol.substr(0, dot);
    }
  }
  return symbol;
}

std::string without_abi_tags(std::string name) {
  for (size_t tag = 0; (tag = name.find("[abi:", tag)) != std::string::npos;) {
    size_t end = name.find(']', tag);
    if (end == std::string::npos) break;
    name.erase(tag, end + 1 - tag);
  }
  return name;
}

}  // namespace jitprof
