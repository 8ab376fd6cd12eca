// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "unwind/sniff/sniffers.h"

namespace jitprof {

// Adds the sniffers of a shared library made to include/jitprof/sniffer.h. Runs the library's code in this
// process, and never unloads it: its sniffers are asked until the report ends, and so does the process. On an
// error, sniffers listed in the library before the faulty one stay.
Status load_plugin(const std::string& path, Sniffers& sniffers);

}  // namespace jitprof
