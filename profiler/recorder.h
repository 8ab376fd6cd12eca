// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/event_set.h"
#include "profiler/gdb_jit.h"
#include "profiler/module_tracker.h"
#include "profiler/recording_writer.h"
#include "profiler/ring_set.h"
#include "profiler/sample_copier.h"
#include "profiler/side_files.h"

namespace jitprof {

// Empties the rings into the recording. Owns the rings, the events and the writer from the moment all events
// are open; knows nothing about why recording starts and stops.
class Recorder {
 public:
  // `begin_ns`: nothing in the rings is older.
  Recorder(RingSet rings, EventSet events, const SamplingPlan& plan, OutputFile output,
           const std::vector<std::string>& command_line, const JitSetup& jit_setup, uint64_t begin_ns);
  // Its parts refer to one another.
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Describes processes that run already.
  void snapshot(const std::vector<uint32_t>& pids);
  void enable() { events_.enable(); }

  // Waits for samples or one of `wake` to be readable, at most until `until_ns`, and does what is due by
  // then. Returns whether one of `wake` was.
  bool wait(const std::vector<int>& wake, uint64_t until_ns);

  // Stops sampling, takes what is left, and writes the end of the recording.
  void finish();

  // Once processes have ended: what they wrote only because of `jit_setup` goes.
  void remove_added_files() const { side_files_.remove_added(); }

  uint64_t samples() const { return copier_.samples(); }
  uint64_t lost() const { return lost_; }
  uint64_t bytes_written() const { return writer_.bytes_written(); }
  // One line each for the user, once it has finished.
  std::vector<std::string> notes() const { return gdb_jit_.notes(); }
  const std::optional<Error>& failure() const { return writer_.failure(); }

 private:
  // Beside the looks that each sweep takes.
  static constexpr uint64_t kWithNextSweep = UINT64_MAX;

  void sweep();
  void look_for_code();
  void take(Bytes record);
  void watch(const Mapping& mapping);

  RingSet rings_;
  EventSet events_;
  RecordingWriter writer_;
  SampleCopier copier_;
  ModuleTracker modules_;
  SideFiles side_files_;
  GdbJit gdb_jit_;
  uint64_t lost_ = 0;
  bool has_kernel_image_ = false;
  bool round_has_records_ = false;
  uint64_t last_mark_ns_;
  uint64_t next_sweep_ns_;
  uint64_t next_look_ns_ = kWithNextSweep;
  uint64_t compiles_until_ns_ = 0;
};

}  // namespace jitprof
