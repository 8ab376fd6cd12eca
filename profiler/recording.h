// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "profiler/event.h"

namespace jitprof {

// One sampled event of a recording.
struct SampledEvent {
  std::string name;        // "cycles", "cpu-clock"
  bool is_clock = false;   // its period is nanoseconds of CPU time
  uint64_t frequency = 0;  // asked samples per second; 0 with a fixed period
  uint64_t period = 0;     // fixed period; 0 with a frequency
  bool user_only = false;
};

// What is true of the whole recording.
struct RecordingHeader {
  enum class Format { kJitprof, kPerfData };
  Format format = Format::kJitprof;
  uint32_t version = 0;
  std::string architecture;  // as uname -m says
  std::string host;
  std::string kernel_release;
  std::vector<std::string> command_line;
  uint32_t cpu_count = 0;
  std::vector<SampledEvent> events;
  bool clock_is_monotonic = true;
  uint64_t start_wall_ns = 0;  // CLOCK_REALTIME and the recording's clock at one moment; 0 when unknown
  uint64_t start_ns = 0;
  std::string call_graph;   // "stack", "fp" or "none"
  uint64_t stack_size = 0;  // bytes asked per sample
};

// Opens a recording of our own or a perf.data (file or pipe mode) and yields its events in order of time.
// Owns the file and all buffers. One pass, one thread.
class Recording {
 public:
  // "-" reads standard input. Threads of `helpers`, which must outlive the recording, read ahead; it is then
  // the pool's backlog. Errors (exit 2): cannot be opened, neither format, another version, another
  // architecture, and what perf.data can hold that we do not read.
  static Result<Recording> open(const std::string& path, WorkerPool* helpers = nullptr);
  // The same for bytes already at hand; `name` stands for the path in messages.
  static Result<Recording> parse(MappedFile file, const std::string& name, WorkerPool* helpers = nullptr);

  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  const RecordingHeader& header() const;

  // The next event; nullptr at the end. The error of a file that is damaged before its end names the file and
  // the offset; every readable event before that place has been handed out by then, and none comes after.
  // The event stays valid until the next call. With Earlier::kKeep the bytes of stacks and side files in the
  // events before this one, back to the last call with kDrop, do too; chains and strings do not.
  enum class Earlier { kDrop, kKeep };
  Result<const Event*> next(Earlier earlier = Earlier::kDrop);

  // Named shortfalls met so far ("torn last chunk", "samples out of order"), for the footer. Never zero.
  const std::map<std::string, uint64_t>& shortfalls() const;

 private:
  class Source;
  class PerfDataSource;
  class ChunkSource;
  explicit Recording(std::unique_ptr<Source> source);
  std::unique_ptr<Source> source_;
};

}  // namespace jitprof
