// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "output/profile.h"
#include "profiler/recording.h"
#include "symbolize/symbolizer.h"
#include "unwind/sniff/sniffers.h"
#include "unwind/space/process_table.h"
#include "unwind/walk.h"

namespace jitprof {

// How recordings are read; the same for every command that reads them.
struct ReadingOptions {
  std::vector<std::string> files;
  std::string symfs;
  DebugSearch debug_search;
  Sniffers sniffers;
  // Of --sniffer; the command goes on without it, and ends with kFailed.
  bool has_refused_plugins = false;
  uint32_t max_depth = kDefaultMaxDepth;
  unsigned jobs = 1;
  NameDetail names = NameDetail::kFull;
};

// The state of one recording while it is played: what was mapped where, and the text of kallsyms.
class Playback {
 public:
  // Both must outlive this.
  Playback(const ReadingOptions& options, const RecordingHeader& header);

  void apply(const Event& event);

  ModuleTable modules;
  ProcessTable processes;
  std::string kallsyms;  // empty when kernel functions need no names

 private:
  void apply_kernel_text(const MapEvent& event);

  const RecordingHeader& header_;
  bool wants_kernel_symbols_;
};

// Plays a recording from its beginning to its end: applies each event to `playback`, then hands it to
// `visit`. The error is that of a file damaged before its end; everything readable has been visited then.
Status play(Recording& recording, Playback& playback, const std::function<void(const Event&)>& visit);

// A profile and, when a file named on the command line was damaged, what is wrong with it: the profile has
// what came before.
struct LoadedProfile {
  Profile profile;
  std::optional<Error> damage;
};

// recording -> events -> unwound stacks -> named frames -> Profile, for one file or several runs. The error
// is that of a file that could not be read at all.
Result<LoadedProfile> load_profile(const ReadingOptions& options);

}  // namespace jitprof
