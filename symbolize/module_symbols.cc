// SPDX-License-Identifier: Apache-2.0
#include "symbolize/module_symbols.h"

#include <cstdio>
#include <iterator>

#include "symbolize/jit_symbols.h"

namespace jitprof {
namespace {

const std::pair<const ElfAddr, Module::PublishedName>* published_name_at(const Module& module,
                                                                         ElfAddr position) {
  auto next = module.published_names.upper_bound(position);
  if (next == module.published_names.begin()) return nullptr;
  const auto& candidate = *std::prev(next);
  return position.distance_from(candidate.first) < candidate.second.size ? &candidate : nullptr;
}

}  // namespace

ModuleSymbols::ModuleSymbols(const Module& module, const std::vector<std::string>& debug_directories,
                             Names& names)
    : module_(module), names_(names) {
  const ElfFile* with_debug =
      module.elf.has_value() && has_debug_sections(*module.elf) ? &*module.elf : nullptr;
  if (with_debug == nullptr) {
    DebugFileSearch search = find_debug_file(module, debug_directories);
    refused_debug_files_ = search.refused;
    debug_file_ = std::move(search.file);
    if (debug_file_.has_value() && has_debug_sections(*debug_file_)) with_debug = &*debug_file_;
  }
  if (module.elf.has_value()) symbols_.add(*module.elf);
  if (debug_file_.has_value()) symbols_.add(*debug_file_);
  if (with_debug == nullptr) return;
  dwarf_ = std::make_unique<DwarfFile>(*with_debug);
  if (dwarf_->dwarf() == nullptr) {
    has_unreadable_debug_sections_ = true;
    return;
  }
  units_.emplace(dwarf_->dwarf());
  has_unreadable_debug_sections_ = units_->size() == 0;
  lines_.emplace(dwarf_->dwarf(), dwarf_->line_sections(), names_);
  namer_.emplace(*lines_, symbols_, names_);
  inlines_.resize(units_->size());
}

SymbolizedFrame ModuleSymbols::symbolize(ElfAddr position) {
  SymbolizedFrame frame;
  std::optional<uint32_t> unit = units_.has_value() ? units_->find(position) : std::nullopt;
  if (unit.has_value() && add_instances(*unit, position, frame)) return frame;
  add_symbol(position, unit.has_value() ? source_of(units_->die(*unit), position) : SourceFrame{}, frame);
  return frame;
}

const InlineIndex& ModuleSymbols::inlines_of(uint32_t unit) {
  if (inlines_[unit] == nullptr) inlines_[unit] = std::make_unique<InlineIndex>(units_->die(unit));
  return *inlines_[unit];
}

SourceFrame ModuleSymbols::source_of(const Dwarf_Die& unit, ElfAddr position) {
  SourceFrame source;
  const LineTable::Row* row = lines_->of_unit(unit).find(position);
  if (row == nullptr) return source;
  source.file = lines_->file(unit, row->file);
  source.line = row->line;
  source.column = row->column;
  return source;
}

SourceFrame ModuleSymbols::call_site_of(Dwarf_Die instance) {
  SourceFrame source;
  if (auto file = number_of(instance, DW_AT_call_file)) source.file = lines_->file(instance, *file);
  source.line = static_cast<uint32_t>(number_of(instance, DW_AT_call_line).value_or(0));
  source.column = static_cast<uint32_t>(number_of(instance, DW_AT_call_column).value_or(0));
  return source;
}

// False when the unit has no function at the position (assembler, skeletons of split DWARF).
bool ModuleSymbols::add_instances(uint32_t unit, ElfAddr position, SymbolizedFrame& frame) {
  const InlineIndex& inlines = inlines_of(unit);
  std::optional<uint32_t> next = inlines.find(position);
  SourceFrame source = source_of(units_->die(unit), position);
  while (next.has_value()) {
    const InlineIndex::Instance& instance = inlines.instance(*next);
    bool is_called = instance.parent == InlineIndex::Instance::kNone;
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_->dwarf(), instance.die, &die) == nullptr) return false;
    source.function = is_called ? namer_->called(die, inlines.entry(*next)) : namer_->inlined(die);
    if (is_called && source.function.is_none()) {
      add_symbol(position, source, frame);
      return true;
    }
    frame.lines.push_back(source);
    if (is_called) {
      ElfAddr start = inlines.range_start(*next, position).value_or(position);
      frame.offset = position.distance_from(start);
      return true;
    }
    source = call_site_of(die);
    next = instance.parent;
  }
  return false;
}

// The function as the symbol table knows it, standing at `source`.
void ModuleSymbols::add_symbol(ElfAddr position, SourceFrame source, SymbolizedFrame& frame) {
  if (const SymbolTable::Symbol* symbol = symbols_.find(position)) {
    source.function = names_.add(function_of_symbol(symbol->name, names_));
    frame.offset = position.distance_from(symbol->start);
  } else if (const auto* published = published_name_at(module_, position)) {
    source.function = names_.add(function_of_jit_name(published->second.name, names_));
    frame.offset = position.distance_from(published->first);
  } else {
    char offset[24];
    std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(position.value));
    Function function;
    function.name = function.signature = names_.intern(std::string(module_.name()) + offset);
    source.function = names_.add(function);
  }
  frame.lines.push_back(source);
}

}  // namespace jitprof
