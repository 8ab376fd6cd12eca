// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiler/event.h"
#include "unwind/space/module_table.h"
#include "unwind/space/process_table.h"

namespace jitprof {

// A recording in memory, as benches of the walk need it: each sample that has registers and a stack with its
// bytes copied, and every process' mappings as they stand at the end of the recording.
class LoadedRecording {
 public:
  static Result<std::unique_ptr<LoadedRecording>> load(const std::string& path);

  // Without recorded chains: the stack is what is walked.
  const std::vector<Sample>& samples() const { return samples_; }
  const ModuleTable& modules() const { return modules_; }
  ProcessTable& processes() { return processes_; }

 private:
  LoadedRecording() = default;
  void keep(const Sample& sample);

  ModuleTable modules_{""};
  ProcessTable processes_{modules_};
  std::vector<Sample> samples_;
  std::deque<std::vector<std::byte>> stacks_;  // what the samples' segments view
};

}  // namespace jitprof
