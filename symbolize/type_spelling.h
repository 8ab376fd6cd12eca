// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/die.h"

namespace jitprof {

// How the C++ demangler writes what compilers write otherwise.

// A base type: "long unsigned int" -> "unsigned long".
std::string_view demangled_spelling(std::string_view base_type);

// A template argument that is a number of a type: 3u, true, (char)97, (Color)1.
std::string literal_text(std::string_view type, const std::string& digits);

// "operator<< <int>" -> "operator<<", "f<int>" -> "f".
std::string_view name_before_arguments(std::string_view name);

// The arguments of "f<int, g<a, b>, (& x)>" as the compiler wrote them, with "&x" for "(& x)".
std::vector<std::string> split_arguments(std::string_view name);

// A name whose arguments no DIE tells (a type only declared): "g<long int, f<short int> >" -> "g<long,
// f<short> >".
std::string respelled(const std::string& name, unsigned depth = 0);

// The extents of a DW_TAG_array_type: "[3][4]", "[]".
std::string array_extents(Dwarf_Die array);

}  // namespace jitprof
