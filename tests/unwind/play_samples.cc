// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/play_samples.h"

namespace jitprof::tests {
namespace {

struct Player {
  ModuleTable& modules;
  ProcessTable processes;
  const std::function<void(const Sample&, const Process&)>& visit;

  void operator()(const Sample& sample) { visit(sample, processes.process(sample.pid)); }
  void operator()(const LostEvent&) {}
  void operator()(const MapEvent& event) { processes.apply(event); }
  void operator()(const CommEvent& event) { processes.apply(event); }
  void operator()(const ForkEvent& event) { processes.apply(event); }
  void operator()(const ExitEvent& event) { processes.apply(event); }
  void operator()(const ModuleEvent& event) { modules.apply(event); }
  void operator()(const SideFileEvent& event) { modules.apply(event); }
};

}  // namespace

Status play_samples(Recording& recording, ModuleTable& modules,
                    const std::function<void(const Sample&, const Process&)>& visit) {
  Player player{modules, ProcessTable(modules), visit};
  for (;;) {
    const Event* event = JP_TRY(recording.next());
    if (event == nullptr) return Nothing{};
    std::visit(player, *event);
  }
}

}  // namespace jitprof::tests
