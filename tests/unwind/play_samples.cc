// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/play_samples.h"

namespace jitprof::tests {

Status play_samples(Recording& recording, ModuleTable& modules,
                    const std::function<void(const Sample&, const Process&)>& visit) {
  ProcessTable processes(modules);
  for (;;) {
    const Event* event = JP_TRY(recording.next());
    if (event == nullptr) return Nothing{};
    processes.apply_event(*event);
    if (const auto* sample = std::get_if<Sample>(event)) visit(*sample, processes.process(sample->pid));
  }
}

}  // namespace jitprof::tests
