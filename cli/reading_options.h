// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <string>

#include "cli/options.h"
#include "cli/pipeline.h"

namespace jitprof {

// The options with which every command reads recordings, those that say who unwinds, and those of commands
// that unwind and name frames.
void add_reading_options(boost::program_options::options_description& description);
void add_sniffer_options(boost::program_options::options_description& description);
void add_frame_options(boost::program_options::options_description& description);
// Where to look for debug files: each --debug-dir, then the usual places.
DebugSearch debug_search(const ParsedOptions& parsed);
// Fills in the sniffers there are: our own, and those of each --sniffer, without those of each
// --disable-sniffer. Prints what is wrong with a plug-in that is refused; the error is that of a name to
// disable which nobody has.
Status read_sniffers(const ParsedOptions& parsed, ReadingOptions& options);
// FILE… and all of these options; jitprof.data where no file is named. The error is that of a folder that is
// none, a sniffer that is none, or a number out of its bounds.
Result<ReadingOptions> reading_options(const ParsedOptions& parsed);

// Opens the files of a command line one after the other and hands each to `read`, which plays it. Prints the
// first thing that is wrong; gives the exit status.
int for_each_recording(const ParsedOptions& parsed,
                       const std::function<Status(const ReadingOptions& options, const std::string& file,
                                                  Recording& recording, Playback& playback)>& read);

}  // namespace jitprof
