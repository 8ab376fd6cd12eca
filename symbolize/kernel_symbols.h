// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/position.h"

namespace jitprof {

// The code symbols of a recorded /proc/kallsyms ("ffffffff81000000 T _text", modules with a "\t[ext4]"
// behind). Owns a copy of the text.
class KernelSymbols {
 public:
  struct Symbol {
    RuntimeAddr start;
    std::string_view name;
  };

  // Lines that cannot be read are left out, and so are those at 0: the kernel writes zeros for readers
  // without the capability to see positions, and looking those up would give random names.
  explicit KernelSymbols(Bytes kallsyms);

  // The symbol at or before `position`, which has no size to end it; nullptr before the first and more than
  // 1 MiB behind the start.
  const Symbol* find(RuntimeAddr position) const;

 private:
  std::string text_;
  std::vector<Symbol> symbols_;
};

}  // namespace jitprof
