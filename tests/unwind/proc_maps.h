// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "profiler/event.h"

namespace jitprof::tests {

// The mapping that a line of /proc/PID/maps tells of.
MapEvent map_event(pid_t pid, const std::string& line);

}  // namespace jitprof::tests
