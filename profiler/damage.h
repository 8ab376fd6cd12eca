// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace jitprof {

// The error of a recording that cannot be read beyond `offset`.
inline Error damage_at(const std::string& name, uint64_t offset, const std::string& what) {
  return Error{"'" + name + "': damaged at offset " + std::to_string(offset) + ": " + what};
}

}  // namespace jitprof
