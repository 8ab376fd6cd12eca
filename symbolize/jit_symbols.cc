// SPDX-License-Identifier: Apache-2.0
#include "symbolize/jit_symbols.h"

#include <algorithm>

#include "symbolize/jit_name.h"

namespace jitprof {
namespace {

// From the line table: the last row at the offset or before.
SourceFrame source_at(const JitCode& code, uint64_t offset, Names& names) {
  SourceFrame source;
  auto starts_behind = [](uint64_t place, const JitLine& row) { return place < row.offset; };
  auto row = std::upper_bound(code.lines.begin(), code.lines.end(), offset, starts_behind);
  if (row == code.lines.begin()) return source;
  --row;
  if (row->file < code.files.size() && !code.files[row->file].empty())
    source.file = names.intern(code.files[row->file]);
  source.line = row->line;
  source.column = row->column;
  return source;
}

// A method of the inlining table. It says where an inlined one is written only by its file.
SourceFrame source_of(const InlineTable::Frame& method, const JitCode& code, Names& names) {
  bool is_called = method.callee == InlineTable::kMethod;
  Function function = function_of_jit_name(is_called ? std::string_view(code.name) : method.name, names);
  SourceFrame source;
  if (!method.file.empty()) source.file = names.intern(method.file);
  if (function.file.is_none()) function.file = source.file;
  source.function = names.add(function);
  source.line = method.line;
  return source;
}

}  // namespace

Function function_of_jit_name(std::string_view published, Names& names) {
  JitName name = read_jit_name(published);
  Function function;
  function.name = names.intern(name.function);
  function.signature = names.intern(published.empty() ? name.function : published);
  if (published.starts_with("_Z")) function.linkage_name = names.intern(published);
  if (!name.file.empty()) function.file = names.intern(name.file);
  function.line = name.line;
  return function;
}

SymbolizedFrame symbolize_jit_code(const JitCode& code, ElfAddr offset, Names& names) {
  SymbolizedFrame frame;
  frame.offset = offset.value;
  if (!code.inlines.empty()) {
    for (const InlineTable::Frame& method : code.inlines.lookup(static_cast<uint32_t>(offset.value)))
      frame.lines.push_back(source_of(method, code, names));
    if (!frame.lines.empty()) return frame;
  }
  SourceFrame source = source_at(code, offset.value, names);
  Function function = function_of_jit_name(code.name, names);
  // V8 11.3 loses the file names of some line tables.
  if (source.file.is_none()) source.file = function.file;
  source.function = names.add(function);
  frame.lines.push_back(source);
  return frame;
}

}  // namespace jitprof
