// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/proc_maps.h"

#include <cstdio>

#include "base/result.h"

namespace jitprof::tests {

MapEvent map_event(pid_t pid, const std::string& line) {
  unsigned long start, end, offset, inode;
  unsigned device_major, device_minor;
  char protection[5];
  int path_at = 0;
  int fields = std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, protection, &offset,
                           &device_major, &device_minor, &inode, &path_at);
  JP_CHECK(fields == 7);
  auto id = static_cast<uint32_t>(pid);
  return {.pid = id,
          .tid = id,
          .start = {start},
          .size = end - start,
          .offset = {offset},
          .device_major = device_major,
          .device_minor = device_minor,
          .inode = inode,
          .is_executable = protection[2] == 'x',
          .path = line.substr(path_at)};
}

}  // namespace jitprof::tests
