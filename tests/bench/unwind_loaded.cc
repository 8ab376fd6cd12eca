// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/unwind_loaded.h"

#include <utility>
#include <variant>

#include "profiler/recording.h"

namespace jitprof {

Result<std::unique_ptr<LoadedRecording>> LoadedRecording::load(const std::string& path) {
  Recording recording = JP_TRY(Recording::open(path));
  std::unique_ptr<LoadedRecording> loaded(new LoadedRecording);
  for (;;) {
    const Event* event = JP_TRY(recording.next());
    if (event == nullptr) break;
    loaded->processes_.apply_event(*event);
    if (const auto* sample = std::get_if<Sample>(event)) loaded->keep(*sample);
  }
  return loaded;
}

void LoadedRecording::keep(const Sample& sample) {
  if (sample.registers.empty() || sample.stack_count == 0) return;
  Sample kept = sample;
  kept.kernel_chain = {};
  kept.user_chain = {};
  for (uint32_t i = 0; i < kept.stack_count; ++i) {
    Bytes& bytes = kept.stack[i].bytes;
    bytes = stacks_.emplace_back(bytes.begin(), bytes.end());
  }
  samples_.push_back(kept);
}

}  // namespace jitprof
