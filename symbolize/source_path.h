// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jitprof {

// `path` below `directory`, unless it is absolute or `directory` empty.
std::string joined_path(std::string_view directory, std::string_view path);

// The path without ".", ".." and doubled slashes ("/src/./a/../b.h" -> "/src/b.h"). Works on the text alone:
// the sources need not be on this machine.
std::string normalized_path(std::string_view path);

}  // namespace jitprof
