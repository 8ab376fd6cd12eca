// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/position.h"
#include "symbolize/names.h"
#include "symbolize/symbolized_frame.h"
#include "unwind/jit/jit_code.h"

namespace jitprof {

// The function that a compiler published under this name. Its signature is the whole name.
Function function_of_jit_name(std::string_view published, Names& names);

// What `offset` in code made at run time means, by what its compiler published: the methods inlined there,
// innermost first, or the function itself at the line that is known.
SymbolizedFrame symbolize_jit_code(const JitCode& code, ElfAddr offset, Names& names);

}  // namespace jitprof
