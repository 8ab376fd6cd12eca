// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/place_cache.h"

namespace jitprof::tests {

// What walks over the modules of one test need.
struct Unwinding {
  explicit Unwinding(const ModuleTable& modules) : places({modules, tables, sniffers}) {}

  UnwindTables tables;
  Sniffers sniffers;
  PlaceCache places;
};

}  // namespace jitprof::tests
