// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symbolize/module_symbols.h"

namespace jitprof::tests {

// One source-level frame as text, so that ours and another symbolizer's can be compared.
struct NamedLine {
  std::string name;  // our text, or the linkage or plain name another one gives
  std::string file;
  uint32_t line = 0;
};

// A compiled file with the symbols found for it.
class CodeUnderTest {
 public:
  explicit CodeUnderTest(const std::string& path, const std::vector<std::string>& debug_directories = {});

  std::vector<NamedLine> lines_at(uint64_t position);
  SymbolizedFrame frame_at(uint64_t position) { return symbols_.symbolize({position}); }
  ModuleSymbols& symbols() { return symbols_; }
  Names& names() { return names_; }
  const ElfFile& elf() const { return *module_.elf; }

 private:
  Names names_;
  Module module_;
  ModuleSymbols symbols_;
};

// A file opened as a module without a build-id on record.
Module module_of(const std::string& path);

// Where every instruction of a section starts, by objdump.
std::vector<uint64_t> instructions_of(const std::string& path, const std::string& section = ".text");

// What llvm-symbolizer says of each position, names not demangled.
std::vector<std::vector<NamedLine>> llvm_lines(const std::string& path,
                                               const std::vector<uint64_t>& positions);

// "n::f<int>::operator()" -> "operator()"; "g<int>" -> "g". A mangled name is demangled first.
std::string last_component(std::string_view name);

}  // namespace jitprof::tests
