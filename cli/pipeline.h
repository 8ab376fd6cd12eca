// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/jit_files_beside.h"
#include "output/profile.h"
#include "profiler/recording.h"
#include "symbolize/symbolizer.h"
#include "unwind/jit/jit_collector.h"
#include "unwind/jit/jit_timeline.h"
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

// The state of one recording while it is played: what was mapped where, code made at run time included, and
// the text of kallsyms.
class Playback {
 public:
  // Both must outlive this.
  Playback(const ReadingOptions& options, const RecordingHeader& header);

  // A sample only moves the time on.
  void apply(const Event& event);
  // Whether code came or went between the last event and this time, so that something changes then.
  bool changes_before(uint64_t time_ns) const { return !has_all_jit_code_ || timeline_.is_due(time_ns); }

  ModuleTable modules;
  ProcessTable processes;
  std::string kallsyms;  // empty when kernel functions need no names
  // What could not be read about code made at run time, for the footer.
  const std::map<std::string, uint64_t>& shortfalls() const { return shortfalls_; }

 private:
  void apply_kernel_text(const MapEvent& event);
  void take(JitCollector& collector);
  void advance_to(uint64_t time_ns);

  const RecordingHeader& header_;
  bool wants_kernel_symbols_;
  // In our own recordings, all that compilers wrote comes before the first sample.
  JitCollector collector_;
  bool has_all_jit_code_ = false;
  JitTimeline timeline_;
  JitFilesBeside files_beside_;
  std::map<std::string, uint64_t> shortfalls_;
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
