// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/recording.h"

namespace jitprof::tests {

// Everything a recording says, as text, one line per event; then how it ended.
struct ReadRecording {
  std::vector<std::string> events;
  std::string error;  // empty: read to its end
  RecordingHeader header;
  std::map<std::string, uint64_t> shortfalls;
};
// `bytes` stand for a file of that name. Reads them twice, the second time with threads that read ahead, and
// says so in `error` when that makes a difference.
ReadRecording read_recording(const std::string& bytes, const std::string& name = "x.data");
std::string describe(const Event& event);

}  // namespace jitprof::tests
