// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/walk_sample.h"

namespace jitprof::tests {

KeptWalk walk_sample(const Sample& sample, const Process& process, PlaceCache& places) {
  KeptWalk kept;
  auto keep = [&kept](Frame frame, const WalkedFrame& walked) {
    Registers registers = walked.registers != nullptr ? *walked.registers : Registers();
    kept.frames.push_back({walked.pc, walked.cfa, registers, frame});
  };
  kept.stop = walk(sample, process, places, keep, Follow::kAllRegisters);
  return kept;
}

}  // namespace jitprof::tests
