// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace jitprof {

// An event as the user may name it: "cycles", "cpu-clock:u".
struct EventName {
  std::string name;     // canonical, without modifiers
  uint32_t type = 0;    // PERF_TYPE_*
  uint64_t config = 0;  // PERF_COUNT_*
  bool user_only = false;
  bool kernel_only = false;
};

// The error lists the known names.
Result<EventName> parse_event_name(const std::string& text);

}  // namespace jitprof
