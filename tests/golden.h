// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace jitprof::tests {

// Compares a text with the file `name` below tests/: empty if they are the same, else `diff -u` from the file
// to the text. With BLESS=1 in the environment the file is written instead, which is how goldens are made;
// then look at what git says has changed.
std::string golden_difference(const std::string& name, const std::string& text);

}  // namespace jitprof::tests
