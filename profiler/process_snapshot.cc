// SPDX-License-Identifier: Apache-2.0
#include "profiler/process_snapshot.h"

#include <dirent.h>
#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "profiler/clock.h"
#include "profiler/machine_limits.h"
#include "profiler/side_band.h"

namespace jitprof {
namespace {

std::vector<uint32_t> numbers_in(const std::string& folder) {
  std::vector<uint32_t> numbers;
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  if (!listing) return numbers;
  while (const dirent* entry = readdir(listing.get())) {
    char* end = nullptr;
    unsigned long number = std::strtoul(entry->d_name, &end, 10);
    if (end != entry->d_name && *end == 0) numbers.push_back(static_cast<uint32_t>(number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// One line of /proc/PID/maps:
// "55d0c0a00000-55d0c0a21000 r-xp 00002000 fd:01 1234    /usr/bin/x".
bool parse_line(const char* line, Mapping& mapping) {
  char protection[5] = "";
  uint64_t end = 0;
  int path = 0;
  if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
                  &mapping.start, &end, protection, &mapping.offset, &mapping.device_major,
                  &mapping.device_minor, &mapping.inode, &path) < 7) {
    return false;
  }
  mapping.size = end - mapping.start;
  mapping.protection = (protection[0] == 'r' ? PROT_READ : 0) | (protection[1] == 'w' ? PROT_WRITE : 0) |
                       (protection[2] == 'x' ? PROT_EXEC : 0);
  mapping.path = line + path;
  return true;
}

void snapshot_mappings(uint32_t pid, const std::function<void(Bytes record)>& record) {
  std::unique_ptr<FILE, int (*)(FILE*)> maps(
      std::fopen(("/proc/" + std::to_string(pid) + "/maps").c_str(), "re"), std::fclose);
  if (!maps) return;
  char* text = nullptr;
  size_t capacity = 0;
  ssize_t length;
  while ((length = getline(&text, &capacity, maps.get())) > 0) {
    if (text[length - 1] == '\n') text[length - 1] = 0;
    Mapping mapping;
    if (!parse_line(text, mapping) || (mapping.protection & PROT_EXEC) == 0) continue;
    mapping.pid = pid;
    mapping.tid = pid;
    // The kernel's own word for a mapping without a file.
    if (mapping.path.empty()) mapping.path = "//anon";
    record(make_mapping(mapping, PERF_RECORD_MISC_USER));
  }
  std::free(text);
}

}  // namespace

std::vector<uint32_t> threads_of(uint32_t pid) {
  return numbers_in("/proc/" + std::to_string(pid) + "/task");
}

std::vector<uint32_t> all_processes() { return numbers_in("/proc"); }

void snapshot_process(uint32_t pid, const std::function<void(Bytes record)>& record) {
  auto parent = static_cast<uint32_t>(std::strtoul(status_field(pid, "PPid").c_str(), nullptr, 10));
  for (uint32_t tid : threads_of(pid)) {
    std::string task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
    uint32_t forked_by = tid == pid ? parent : pid;
    record(make_fork(pid, tid, forked_by, forked_by, monotonic_ns()));
    std::string comm = read_small_file(task + "/comm").value_or("");
    if (!comm.empty()) record(make_comm(pid, tid, comm));
  }
  snapshot_mappings(pid, record);
}

}  // namespace jitprof
