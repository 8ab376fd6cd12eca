// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/reading_options.h"
#include "cli/sample_printer.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

po::options_description describe() {
  po::options_description options("jitprof script [OPTIONS] [FILE]\n\nOptions");
  add_reading_options(options);
  add_sniffer_options(options);
  add_frame_options(options);
  options.add_options()("verbose", "per frame: pc, module+offset, who found it, CFA, rule, registers");
  return options;
}

int print_samples(const ParsedOptions& parsed) {
  auto print = [&](const ReadingOptions& options, const std::string&, Recording& recording,
                   Playback& playback) {
    SamplePrinter printer(options, recording.header(), playback, parsed.has("verbose"));
    return play(recording, playback, [&](const Event& event) { printer.visit(event); });
  };
  return for_each_recording(parsed, print);
}

}  // namespace

int run_script(const Arguments& arguments) {
  return run_with_options(arguments, describe(), "file", print_samples);
}

}  // namespace jitprof
