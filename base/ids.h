// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace jitprof {

// An index into the one table that Tag names. Default-constructed, it refers to nothing.
template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffff;
  uint32_t index = kNone;

  constexpr bool is_none() const { return index == kNone; }
  auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;

}  // namespace jitprof

template <class Tag>
struct std::hash<jitprof::Id<Tag>> {
  size_t operator()(jitprof::Id<Tag> id) const { return std::hash<uint32_t>()(id.index); }
};
