// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "unwind/cfi/unwind_rule.h"

namespace jitprof {

// A rule for a person: "cfa=rsp+16 rip=[cfa-8] rbp=[cfa-16]". Registers that stay the same are left out.
std::string to_text(const UnwindRule& rule);

}  // namespace jitprof
