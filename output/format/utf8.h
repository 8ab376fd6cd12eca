// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace jitprof {

// Names and paths come from foreign files and may be any bytes; formats that are UTF-8 get these.

// Each byte that is no part of well-formed UTF-8 (Unicode 15, table 3-7: no surrogates, no overlong forms)
// becomes U+FFFD.
std::string to_utf8(std::string_view bytes);

// Appends a JSON string, quotes included, that also may stand inside HTML's <script>: '<' and the line ends
// of JavaScript alone (U+2028, U+2029) are escaped, so that neither "</script>" nor "<!--" can occur.
void append_json_string(std::string& json, std::string_view bytes);

}  // namespace jitprof
