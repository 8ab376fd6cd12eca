// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/byte_reader.h"

namespace jitprof {

// The longest call instruction that call sites are looked for with, in bytes: FF /2 with SIB and disp32.
inline constexpr unsigned kLongestCall = 7;

// Whether `code` ends in a call instruction, so that what follows it may be a return address. Fewer than
// kLongestCall bytes may be given; prefixes before the opcode do not matter.
bool ends_in_call(Bytes code);

}  // namespace jitprof
