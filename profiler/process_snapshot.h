// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/byte_reader.h"

namespace jitprof {

// Threads of a process at this moment; empty when it is gone.
std::vector<uint32_t> threads_of(uint32_t pid);
// Every process that /proc shows, in order of pid.
std::vector<uint32_t> all_processes();

// Describes a running process as the kernel would have, had we watched it from its start: FORK and COMM of
// each thread, MMAP2 of each executable mapping. What we may not see is left out. `record` gets one perf
// record a call.
void snapshot_process(uint32_t pid, const std::function<void(Bytes record)>& record);

}  // namespace jitprof
