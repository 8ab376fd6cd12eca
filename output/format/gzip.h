// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string_view>

namespace jitprof {

// Writes one gzip member (RFC 1952) at level 6 without a time, so that equal bytes give equal files.
void write_gzip(std::string_view bytes, std::ostream& out);

}  // namespace jitprof
