// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace jitprof {

class InlineTable {};

}  // namespace jitprof
