// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "output/profile.h"
#include "profiler/recording.h"
#include "symbolize/symbolizer.h"
#include "unwind/space/process_table.h"

namespace jitprof {

// How recordings are read; the same for every command that reads them.
struct ReadingOptions {
  std::vector<std::string> files;
  std::string symfs;
  DebugSearch debug_search;
};

// The state of one recording while it is played: what was mapped where, and the text of kallsyms.
struct Playback {
  explicit Playback(const std::string& symfs) : modules(symfs), processes(modules) {}
  ModuleTable modules;
  ProcessTable processes;
  std::string kallsyms;
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
