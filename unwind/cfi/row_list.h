// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitprof {

// Rows in order of where they start, each ending where the next starts: which rule holds there, or kGap.
// Neighbours have different rules.
class RowList {
 public:
  // The number that stands for no rule: a gap in the code that CFI covers.
  static constexpr uint16_t kGap = 0xffff;

  // A row that starts where the last one does takes its place; `start` never goes back.
  void append(uint32_t start, uint16_t rule);
  // `first` where it has a rule, `second` where it has a gap.
  static RowList overlay(const RowList& first, const RowList& second);

  void shrink_to_fit();
  size_t bytes() const {
    return starts_.capacity() * sizeof(uint32_t) + rules_.capacity() * sizeof(uint16_t);
  }
  const std::vector<uint32_t>& starts() const { return starts_; }
  const std::vector<uint16_t>& rules() const { return rules_; }

 private:
  std::vector<uint32_t> starts_;
  std::vector<uint16_t> rules_;  // by row
};

}  // namespace jitprof
