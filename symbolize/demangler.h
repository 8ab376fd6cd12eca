// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jitprof {

// A mangled name as a person reads it. Both texts are empty when the name is not mangled or cannot be read.
struct DemangledName {
  std::string name;       // qualified, with template arguments, without parameters and return type
  std::string signature;  // everything the mangled name says
};

// Demangles C++ (_Z), Rust (_R, and _ZN…17h<hash>E) and D (_D) names; anything else is not mangled. Names
// come from foreign files: the length of input and output and the depth of recursion are limited.
DemangledName demangle(std::string_view mangled);

// The symbol without its version ("memcpy@@GLIBC_2.14") and without the suffixes by which compilers tell
// parts and copies of one function apart (".cold", ".part.0", ".isra.0", ".constprop.0", ".llvm.123", …).
std::string_view without_clone_suffix(std::string_view symbol);

// A demangled name without its ABI tags ("mid[abi:v2]"), in which numba encodes what it compiled for.
std::string without_abi_tags(std::string name);

}  // namespace jitprof
