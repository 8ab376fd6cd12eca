// SPDX-License-Identifier: Apache-2.0
#include "profiler/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace jitprof {

ProcessMemory::ProcessMemory(uint32_t pid)
    : file_(open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {}

bool ProcessMemory::read(RuntimeAddr start, std::span<std::byte> bytes) const {
  uint64_t place = start.value;
  while (!bytes.empty()) {
    // What is negative as an offset is the kernel's half.
    if (static_cast<int64_t>(place) < 0) return false;
    ssize_t got = pread(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(got));
    place += static_cast<uint64_t>(got);
  }
  return true;
}

bool ProcessMemory::is_gone() const {
  // Page 0 is never mapped: that is an error while there are mappings, and no bytes when there are none.
  std::byte byte{};
  return pread(file_.number(), &byte, 1, 0) == 0;
}

}  // namespace jitprof
