// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/rule_dictionary.h"

#include <bit>

#include "unwind/cfi/row_list.h"
#include "unwind/cfi/rule_pool_writer.h"

namespace jitprof {
namespace {

size_t hash_of(const FrameState& state) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t hash = std::bit_cast<uint64_t>(state.cfa) * kOdd + state.is_signal_frame;
  uint64_t factor = kOdd;
  for (const ColumnRule& column : state.columns) {
    factor += kOdd << 1;
    hash += std::bit_cast<uint64_t>(column) * factor;
  }
  return hash ^ hash >> 32;
}

}  // namespace

std::optional<uint16_t> RuleDictionary::number_of(const FrameState& state) {
  const ColumnRule& caller = state.of(Register::rip);
  // A return address that is "the same" was never mentioned: followed, it would give one frame again and
  // again.
  bool names_no_caller = caller.is_lost() || caller.kind == RegisterRule::Kind::kSameValue;
  if (state.cfa.is_lost() || names_no_caller) return RowList::kGap;
  const Numbers::value_type*& recent = recent_[hash_of(state) % recent_.size()];
  if (recent != nullptr && recent->first == state) return recent->second;
  auto found = numbers_.find(state);
  if (found == numbers_.end()) {
    if (numbers_.size() == RowList::kGap) return std::nullopt;
    found = numbers_.emplace(state, static_cast<uint16_t>(numbers_.size())).first;
  }
  recent = &*found;
  return recent->second;
}

RulePool RuleDictionary::pool() const {
  std::vector<const FrameState*> by_number(numbers_.size());
  for (const auto& [state, number] : numbers_) by_number[number] = &state;
  RulePoolWriter writer(expressions_);
  for (const FrameState* state : by_number) writer.add(*state);
  return std::move(writer).finish();
}

}  // namespace jitprof
