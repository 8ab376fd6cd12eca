// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/pipeline.h"

namespace jitprof {

// Prints one block per sample, in the order of time: a line with thread, cpu, time, period and event, then
// the frames, leaf first, inlined ones above the physical frame they run in. With `verbose`, what the walk
// knew of each physical frame stands below it.
class SamplePrinter {
 public:
  SamplePrinter(const ReadingOptions& options, const RecordingHeader& header, Playback& playback,
                bool verbose);

  void visit(const Event& event);

 private:
  void print(const Sample& sample);
  void print_head(const Sample& sample);
  std::string describe(const Frame& frame, const WalkedFrame& walked);
  std::string describe_lines(const Frame& frame);
  std::string describe_walk(const Frame& frame, const WalkedFrame& walked) const;
  std::string place_of(const Frame& frame) const;
  std::string module_name(const Frame& frame) const;
  const SymbolizedFrame& symbolized(const Frame& frame);

  const ReadingOptions& options_;
  const RecordingHeader& header_;
  Playback& playback_;
  bool verbose_;
  UnwindTables tables_;
  PlaceCache places_;
  Names names_;
  Symbolizer symbolizer_;
  size_t kallsyms_size_ = 0;  // of what the symbolizer knows
  std::map<Frame, SymbolizedFrame> symbolized_;
  std::vector<std::string> frames_;  // of the present sample
};

}  // namespace jitprof
