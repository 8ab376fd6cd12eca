// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace jitprof::tests {

// A text profile (text_profile.h) of some hundred stacks with recursion, all kinds of frames, equal names at
// many places, several threads and two events. Equal seeds give equal texts.
std::string random_text_profile(unsigned seed);

}  // namespace jitprof::tests
