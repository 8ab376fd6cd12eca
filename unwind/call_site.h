// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/byte_reader.h"

namespace jitprof {

// The longest call instruction that call sites are looked for with, in bytes: FF /2 with SIB and disp32.
inline constexpr unsigned kLongestCall = 7;

// Whether `code` ends in a call instruction, so that what follows it may be a return address. Fewer than
// kLongestCall bytes may be given; prefixes before the opcode do not matter.
bool ends_in_call(Bytes code);

// Whether `code` is what a signal handler returns to without having been called from there: the C library's
// mov $15,%rax (or %eax); syscall, which is rt_sigreturn.
bool begins_with_sigreturn(Bytes code);

}  // namespace jitprof
