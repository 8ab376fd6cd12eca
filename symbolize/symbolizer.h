// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "symbolize/names.h"
#include "symbolize/symbolized_frame.h"
#include "unwind/space/module_table.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

class KernelSymbols;
class ModuleSymbols;

// Where separate debug files are looked for. An ELF file at DIR/.build-id/xx/yyyy.debug or DIR/<path of the
// module>.debug is used only if its build-id (debuglink: its CRC) fits.
struct DebugSearch {
  std::vector<std::string> directories = {"/usr/lib/debug"};
};

// How far frames are named: up the whole ladder, or as "module+0xoff" only, for which no symbol table and no
// debug file is opened.
enum class NameDetail : uint8_t { kFull, kModule };

// Frame -> source lines with inlined functions, a pure memoisable function of (module, position). Opens a
// module's debug information when its first frame comes and indexes a compilation unit when its first
// position comes. Adds names to `names`. One thread.
class Symbolizer {
 public:
  Symbolizer(const ModuleTable& modules, DebugSearch search, Names& names,
             NameDetail detail = NameDetail::kFull);
  ~Symbolizer();

  SymbolizedFrame symbolize(const Frame& frame);

  // The text of /proc/kallsyms as recorded; lines with position 0 are ignored.
  void set_kernel_symbols(Bytes kallsyms);

  // Named shortfalls ("no symbols for '/bin/x': …", "modules with unreadable debug information"), for the
  // footer. Never zero.
  const std::map<std::string, uint64_t>& shortfalls() const { return shortfalls_; }

 private:
  ModuleSymbols& symbols_of(const Module& module);
  SymbolizedFrame symbolize_jit(const Module& module, ElfAddr position);
  SymbolizedFrame symbolize_kernel(const Module& module, ElfAddr position);

  const ModuleTable& modules_;
  DebugSearch search_;
  Names& names_;
  NameDetail detail_;
  std::vector<std::unique_ptr<ModuleSymbols>> symbols_;  // by module id; null until needed
  std::unique_ptr<KernelSymbols> kernel_;
  std::map<std::string, uint64_t> shortfalls_;
};

}  // namespace jitprof
