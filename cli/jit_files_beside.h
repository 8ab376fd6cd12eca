// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "unwind/jit/jit_collector.h"

namespace jitprof {

// The perf maps and jitdumps that processes of a perf.data left behind: they lie where they were written, or
// below the folder that stands for the recorded machine's root.
class JitFilesBeside {
 public:
  JitFilesBeside(std::string symfs, bool has_monotonic_times)
      : symfs_(std::move(symfs)), has_monotonic_times_(has_monotonic_times) {}

  // What the file says that a mapping leads to: a jitdump that is mapped itself, or the perf map of a process
  // that has mapped memory for code of its own. nullopt when there is none, or it was read before.
  std::optional<JitLog> read_file_of(const MapEvent& mapping);

 private:
  std::optional<JitLog> read(uint32_t pid, SideFileKind kind, const std::string& path);

  std::string symfs_;
  bool has_monotonic_times_;
  std::set<std::pair<uint32_t, std::string>> known_;  // process, path
};

}  // namespace jitprof
