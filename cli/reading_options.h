// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options.hpp>

#include "cli/options.h"
#include "cli/pipeline.h"

namespace jitprof {

// The options with which every command reads recordings.
void add_reading_options(boost::program_options::options_description& description);
// FILE… and the reading options; jitprof.data where no file is named. The error is that of a folder that is
// none.
Result<ReadingOptions> reading_options(const ParsedOptions& parsed);

}  // namespace jitprof
