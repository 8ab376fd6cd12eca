// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/result.h"
#include "profiler/recording.h"
#include "unwind/space/process_table.h"

namespace jitprof::tests {

// Plays a recording from its beginning to its end and hands out each sample with its process as it stood
// then.
Status play_samples(Recording& recording, ModuleTable& modules,
                    const std::function<void(const Sample&, const Process&)>& visit);

}  // namespace jitprof::tests
