// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/byte_reader.h"

namespace jitprof {

// Whether code that stands at `code` is on its way out of its function: pops and a return, or pops and a jump
// to the function called last. There, CFI still names the slots of registers that have been popped (g++
// writes no restore, since the bytes below rsp keep their value), but a sample has no bytes below rsp: the
// registers themselves hold what the slots held.
bool is_epilogue(Bytes code);

}  // namespace jitprof
