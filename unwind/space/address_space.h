// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "base/position.h"
#include "unwind/space/module.h"

namespace jitprof {

// A range of one process that holds code of one module.
struct Mapping {
  RuntimeAddr start;
  RuntimeAddr end;
  ModuleId module;
  Bias bias;
  // Anonymous memory and deleted files: what a JIT compiler says of the same place counts for more.
  bool may_hold_jit_code = false;
};

// Ranges of which none overlaps another.
class MappingLayer {
 public:
  // The newer mapping wins where it overlaps; what is left of an older one keeps its bias.
  void map(const Mapping& mapping);
  void unmap(RuntimeAddr start, RuntimeAddr end);
  void clear() { mappings_.clear(); }
  const Mapping* find(RuntimeAddr position) const;
  const std::map<RuntimeAddr, Mapping>& all() const { return mappings_; }

 private:
  std::map<RuntimeAddr, Mapping> mappings_;  // by start
};

// What one process has mapped executable now: files and memory as the kernel knows them, and over those the
// code made at run time, which outlives that its memory is mapped again (W^X compilers do so all the time).
// Code of a live file is never hidden. Events come in order of time, so it holds the present only.
class AddressSpace {
 public:
  void map(const Mapping& mapping);
  // Code made at run time; a module's own name for it stays where a live file is mapped.
  void load(const Mapping& code);
  // `size` 0: the one body of code that begins there.
  void unload(RuntimeAddr start, uint64_t size);
  // What was loaded at `from`; nothing when nothing was.
  void move(RuntimeAddr from, RuntimeAddr to);
  void clear();

  const Mapping* find(RuntimeAddr position) const {
    const Mapping* mapping = files_.find(position);
    if (mapping != nullptr && !mapping->may_hold_jit_code) return mapping;
    const Mapping* code = loaded_.find(position);
    return code != nullptr ? code : mapping;
  }
  // Without code made at run time.
  const std::map<RuntimeAddr, Mapping>& mappings() const { return files_.all(); }
  bool has_loaded_code() const { return !loaded_.all().empty(); }
  // How often it changed: what was found out about a space holds while this stays the same.
  uint32_t changes() const { return changes_; }

 private:
  MappingLayer files_;
  MappingLayer loaded_;
  uint32_t changes_ = 0;
};

}  // namespace jitprof
