// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/row_list.h"

#include <algorithm>

namespace jitprof {

void RowList::append(uint32_t start, uint16_t rule) {
  if (!starts_.empty() && starts_.back() == start) {
    starts_.pop_back();
    rules_.pop_back();
  }
  if (!rules_.empty() && rules_.back() == rule) return;
  starts_.push_back(start);
  rules_.push_back(rule);
}

RowList RowList::overlay(const RowList& first, const RowList& second) {
  RowList merged;
  size_t i = 0, j = 0;
  uint16_t upper = kGap, lower = kGap;
  while (i < first.starts_.size() || j < second.starts_.size()) {
    uint32_t start = i < first.starts_.size() ? first.starts_[i] : second.starts_[j];
    if (j < second.starts_.size()) start = std::min(start, second.starts_[j]);
    if (i < first.starts_.size() && first.starts_[i] == start) upper = first.rules_[i++];
    if (j < second.starts_.size() && second.starts_[j] == start) lower = second.rules_[j++];
    merged.append(start, upper != kGap ? upper : lower);
  }
  return merged;
}

void RowList::shrink_to_fit() {
  starts_.shrink_to_fit();
  rules_.shrink_to_fit();
}

}  // namespace jitprof
