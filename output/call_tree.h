// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "output/view.h"

namespace jitprof {

// A function as called along one path from a root. A function that is inlined and one that is really called
// are two nodes, also below one caller.
struct CallNode {
  FunctionId function;
  ProfileFrame::Kind kind = ProfileFrame::Kind::kNative;
  FrameClass frame_class = FrameClass::kApplication;  // as the module, of the first frame that made the node
  bool inlined = false;
  ModuleId module;
  uint32_t level = 0;  // 0: a root
  uint32_t end = 0;    // index after the node's last descendant
  uint64_t self = 0;   // ended here
  uint64_t total = 0;  // self and all below
};

// The stacks of a view merged from their roots. Nodes stand in preorder, the heaviest sibling first, so the
// first child of node i is i + 1 and its next sibling is nodes[i].end: walks need no recursion, however deep
// stacks are.
struct CallTree {
  std::vector<CallNode> nodes;
  uint64_t total = 0;  // of the view; the roots' totals sum to it, and so do all selves
};
CallTree build_call_tree(const Profile& profile, const View& view);

// What a function sums to over a call tree. A function that is on a stack more than once counts once in
// total.
struct FunctionSum {
  FunctionId function;
  ModuleId module;  // of its first node
  uint64_t self = 0;
  uint64_t total = 0;
};
// Each function of the tree once, by self, then total, both falling, then name.
std::vector<FunctionSum> sum_functions(const Profile& profile, const CallTree& tree);

}  // namespace jitprof
