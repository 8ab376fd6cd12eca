// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "unwind/jit/jit_collector.h"

namespace jitprof {

// The perf maps and jitdumps that processes of a perf.data left behind: they lie where they were written, or
// below the folder that stands for the recorded machine's root.
class JitFilesBeside {
 public:
  explicit JitFilesBeside(std::string symfs) : symfs_(std::move(symfs)) {}

  // Adds the files that a mapping leads to: a jitdump that is mapped itself, and the perf map of a process
  // that has mapped memory for code of its own. False when there is none that was not added before.
  bool add_files_of(const MapEvent& mapping, JitCollector& collector);

 private:
  bool add_file(uint32_t pid, SideFileKind kind, const std::string& path, JitCollector& collector);

  std::string symfs_;
  std::set<std::pair<uint32_t, std::string>> added_;  // process, path
};

}  // namespace jitprof
