// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/elf_file.h"
#include "base/position.h"

namespace jitprof {

// Where the functions of a file begin and end, by its own symbols. A function in the midst of another one
// (an entry of assembly that the one before also runs into) is part of that; so is a label. The parts of
// functions that compilers put elsewhere (f.cold) belong to none.
class FunctionStarts {
 public:
  explicit FunctionStarts(const ElfFile& elf);

  struct Function {
    ElfAddr start;
    uint64_t size = 0;
    std::string_view name;  // views the file
  };
  std::optional<Function> find(ElfAddr position) const;

 private:
  std::vector<Function> functions_;  // by start, none overlaps another
};

}  // namespace jitprof
