// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "unwind/jit/inline_table.h"

namespace jitprof::tests {

using InlineEntries = std::vector<InlineTable::Entry>;

// (callee, line) of each method, innermost first.
using InlineChain = std::vector<std::pair<uint32_t, uint32_t>>;

// The look-up as the table's definition words it, entry by entry from the newest downwards.
InlineChain look_up_by_definition(const InlineEntries& entries, uint32_t offset);

// A table in order, made at random, with the chains it stands for. Bodies nest, are empty, begin with others
// and follow each other with and without an instruction between them.
class RandomInlines {
 public:
  explicit RandomInlines(uint32_t seed);

  static constexpr uint32_t kCallees = 5;
  uint32_t size() const { return static_cast<uint32_t>(chains.size()); }

  InlineEntries entries;
  std::vector<InlineChain> chains;  // of every offset, by how the code was made

 private:
  void add_line(std::mt19937& random, const InlineChain& around, uint32_t callee);
  void add_body(std::mt19937& random, const InlineChain& around, uint32_t callee, unsigned depth);
};

// "name 0" … and no files.
std::vector<InlineTable::Callee> numbered_callees(uint32_t count);
InlineChain chain_of(const InlineTable& table, uint32_t offset);

}  // namespace jitprof::tests
