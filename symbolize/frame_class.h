// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "unwind/space/module.h"

namespace jitprof {

// Whose code a frame runs.
enum class FrameClass : uint8_t {
  kApplication,  // also code that an application had compiled at run time, and code nobody knows
  kLibrary,      // of the system
  kRuntime,      // of the virtual machine: the program that compiles, and what it made for itself
  kKernel,
};

// By where the file lies and what it or the code is called.
FrameClass class_of(const Module& module);

}  // namespace jitprof
