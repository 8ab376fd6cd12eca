// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace jitprof {

// Owns every distinct text once and hands out its StringId; ids count up from 0 in order of first sight, so a
// run over the same input gives the same ids. Texts stay where they are until the interner goes.
class Interner {
 public:
  Interner() = default;
  Interner(Interner&&) = default;
  Interner& operator=(Interner&&) = default;
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  StringId intern(std::string_view text) {
    if (auto found = ids_.find(text); found != ids_.end()) return found->second;
    StringId id{static_cast<uint32_t>(texts_.size())};
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  // The text of an id; empty for the none id.
  std::string_view text(StringId id) const { return id.is_none() ? std::string_view() : texts_[id.index]; }
  size_t size() const { return texts_.size(); }

 private:
  // A deque's elements do not move, so the map's keys may view them.
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace jitprof
