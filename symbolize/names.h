// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/interner.h"
#include "unwind/space/module.h"

namespace jitprof {

using FunctionId = Id<struct FunctionTag>;

// A function as a person knows it. Two functions of one text but another linkage name or file are two.
struct Function {
  StringId name;          // shown: qualified, with template arguments, without parameters; never empty
  StringId signature;     // with parameters, where known; else the same as name
  StringId linkage_name;  // mangled; none when it has none (C, static without symbol)
  StringId file;          // that declares it; none when unknown
  uint32_t line = 0;      // of its declaration; 0 when unknown
};

// Every function and text a report speaks of, each once. Grows only; ids count in order of first sight.
class Names {
 public:
  FunctionId add(const Function& function);
  const Function& function(FunctionId id) const { return functions_[id.index]; }
  size_t function_count() const { return functions_.size(); }

  StringId intern(std::string_view text) { return strings_.intern(text); }
  std::string_view text(StringId id) const { return strings_.text(id); }
  std::string_view name(FunctionId id) const { return text(function(id).name); }

 private:
  Interner strings_;
  std::vector<Function> functions_;
  // Identity: name, linkage name, file. The declaration's line may differ between units that see a forward
  // declaration first, so it is no part of it.
  struct Hash {
    size_t operator()(const std::tuple<StringId, StringId, StringId>& key) const;
  };
  std::unordered_map<std::tuple<StringId, StringId, StringId>, FunctionId, Hash> ids_;
};

}  // namespace jitprof
