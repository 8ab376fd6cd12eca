// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "unwind/walk.h"

namespace jitprof::tests {

// One frame of a walk, kept.
struct KeptFrame {
  RuntimeAddr pc;   // exact: a return address for callers
  RuntimeAddr cfa;  // {0}: nothing says
  Registers registers;
  Frame frame;
};

struct KeptWalk {
  std::vector<KeptFrame> frames;
  StopReason stop = StopReason::kReachedRoot;
};

// The walk of a sample's user part, as the product does it.
KeptWalk walk_sample(const Sample& sample, const Process& process, PlaceCache& places);

}  // namespace jitprof::tests
