// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/cfi/unwind_table.h"
#include "unwind/jit/jit_code.h"

namespace jitprof {

// The table of one body of code from what its maker published: .eh_frame, else frame rows; covers nothing
// where there is neither. Of code that is an object file see UnwindTable::compile.
UnwindTable compile_jit_cfi(const JitCode& code);

}  // namespace jitprof
