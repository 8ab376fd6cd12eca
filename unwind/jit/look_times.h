// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace jitprof {

// Between which two looks at a growing file its new bytes came: they were not there at from_ns and were at
// seen_ns. Of a file that was read whole, after the run, nothing is known.
struct LookTimes {
  static constexpr uint64_t kNever = UINT64_MAX;
  uint64_t from_ns = 0;
  uint64_t seen_ns = kNever;
};

}  // namespace jitprof
