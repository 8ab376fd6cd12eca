// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jitprof {

// What a compiler's name for its code says, taken apart.
struct JitName {
  std::string function;  // what a person calls it; never empty
  std::string file;      // "" when the name does not say
  uint32_t line = 0;     // where the function begins; 0: the name does not say
  // How the code came to be, where the name says so: "interpreted", "baseline", "optimized"; else "".
  std::string tier;
};

// Knows the names of V8 ("JS:*mid chain.js:16:13", "Builtin:ArrayMap", "JS:leaf-0-turbofan"), CPython
// ("py::mid:/srv/chain.py") and C++ compilers; any other text is the function's name.
JitName read_jit_name(std::string_view published);

}  // namespace jitprof
