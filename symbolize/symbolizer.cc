// SPDX-License-Identifier: Apache-2.0
#include "symbolize/symbolizer.h"

#include <cstdio>

#include "symbolize/demangler.h"
#include "symbolize/function_namer.h"
#include "symbolize/jit_name.h"
#include "symbolize/jit_symbols.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/module_symbols.h"

namespace jitprof {
namespace {

std::string hex_text(std::string_view prefix, uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return std::string(prefix) + digits;
}

SymbolizedFrame frame_named(const std::string& name, Names& names) {
  Function function;
  function.name = function.signature = names.intern(name);
  return {.lines = {{.function = names.add(function)}}};
}

SymbolizedFrame frame_named_by(const Module& module, ElfAddr position, Names& names) {
  return frame_named(hex_text(std::string(module.name()) + "+", position.value), names);
}

// One line for the footer, with the fix.
std::string describe_lack_of_symbols(const Module& module) {
  bool was_read = module.problem == Module::Problem::kNone;
  return "no symbols for '" + module.path + "': " +
         (was_read ? "it is stripped (compile with -g, or install its debug package)"
                   : describe(module.problem));
}

}  // namespace

Symbolizer::Symbolizer(const ModuleTable& modules, DebugSearch search, Names& names, NameDetail detail)
    : modules_(modules), search_(std::move(search)), names_(names), detail_(detail) {}

Symbolizer::~Symbolizer() = default;

void Symbolizer::set_kernel_symbols(Bytes kallsyms) { kernel_ = std::make_unique<KernelSymbols>(kallsyms); }

SymbolizedFrame Symbolizer::symbolize(const Frame& frame) {
  if (frame.module.is_none()) return frame_named(hex_text("", frame.position.value), names_);
  const Module& module = modules_.module(frame.module);
  if (detail_ == NameDetail::kModule) return frame_named_by(module, frame.position, names_);
  switch (module.kind) {
    case Module::Kind::kKernel:
    case Module::Kind::kKernelModule:
      return symbolize_kernel(module, frame.position);
    case Module::Kind::kAnonymous:
      return frame_named_by(module, frame.position, names_);
    case Module::Kind::kJit:
      return symbolize_jit(module, frame.position);
    case Module::Kind::kFile:
    case Module::Kind::kVdso:
      return symbols_of(module).symbolize(frame.position);
  }
  return {};
}

SymbolizedFrame Symbolizer::symbolize_jit(const Module& module, ElfAddr position) {
  if (!module.elf) return symbolize_jit_code(*module.jit, position, names_);
  SymbolizedFrame frame = symbols_of(module).symbolize(position);
  for (SourceFrame& line : frame.lines) {
    Function function = names_.function(line.function);
    std::string name(names_.text(function.name));
    std::string plain = without_abi_tags(read_jit_name(name).function);
    if (plain == name) continue;
    function.name = names_.intern(plain);
    line.function = names_.add(function);
  }
  return frame;
}

// Kernel modules have no bytes here and a bias of 0, so that their positions are the kernel's own.
SymbolizedFrame Symbolizer::symbolize_kernel(const Module& module, ElfAddr position) {
  const KernelSymbols::Symbol* symbol =
      kernel_ != nullptr ? kernel_->find(RuntimeAddr{position.value}) : nullptr;
  if (symbol == nullptr) return frame_named_by(module, position, names_);
  SymbolizedFrame frame;
  frame.lines.push_back({.function = names_.add(function_of_symbol(symbol->name, names_))});
  frame.offset = position.value - symbol->start.value;
  return frame;
}

ModuleSymbols& Symbolizer::symbols_of(const Module& module) {
  if (module.id.index >= symbols_.size()) symbols_.resize(module.id.index + 1);
  std::unique_ptr<ModuleSymbols>& symbols = symbols_[module.id.index];
  if (symbols == nullptr) {
    symbols = std::make_unique<ModuleSymbols>(module, search_.directories, names_);
    if (!symbols->has_symbols() && module.kind != Module::Kind::kJit)
      ++shortfalls_[describe_lack_of_symbols(module)];
    if (symbols->has_unreadable_debug_sections()) ++shortfalls_["modules with unreadable debug information"];
    if (unsigned refused = symbols->refused_debug_files()) {
      shortfalls_["debug files of another build, not used"] += refused;
    }
  }
  return *symbols;
}

}  // namespace jitprof
