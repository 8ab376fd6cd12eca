// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "method.h"

namespace toy {

inline constexpr const char* kFile = "toy.src";

// outer calls middle, middle calls leaf; both through a slot, so that code can be made before it has a place.
// `callback` is called by leaf. Only frame pointers where no channel could tell of anything else.
struct Chain {
  Method outer;
  Method middle;
  Method leaf;
};
Chain make_chain(bool only_frame_pointers, uint32_t rounds, const void* callback,
                 const void* const* middle_slot, const void* const* leaf_slot);

// One of several methods that are put at the same place in turn. It is of another size than its neighbours,
// spins, calls its marker from an inlined method, and spins again.
Method make_version(unsigned version, bool only_frame_pointers, uint32_t rounds, const void* marker);

}  // namespace toy
