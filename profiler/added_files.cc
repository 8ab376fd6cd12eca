// SPDX-License-Identifier: Apache-2.0
#include "profiler/added_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace jitprof {
namespace {

// A program that forks without end must not take all descriptors.
constexpr size_t kMostFiles = 1024;

bool has_ended(uint32_t pid) { return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

void remove_v8_logs(const Fd& folder, std::string_view end_of_name) {
  int listed = openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = listed >= 0 ? fdopendir(listed) : nullptr;
  if (entries == nullptr) {
    if (listed >= 0) close(listed);
    return;
  }
  std::vector<std::string> logs;
  while (const dirent* entry = readdir(entries)) {
    std::string_view name = entry->d_name;
    if (name.starts_with("isolate-0x") && name.ends_with(end_of_name)) logs.emplace_back(name);
  }
  closedir(entries);
  for (const std::string& name : logs) unlinkat(folder.number(), name.c_str(), 0);
}

}  // namespace

void AddedFiles::add(Fd folder, std::string name, uint64_t inode, uint32_t pid) {
  if (folder.is_open() && files_.size() < kMostFiles)
    files_.push_back({std::move(folder), std::move(name), inode, pid});
}

void AddedFiles::add_v8_logs(Fd folder, uint32_t inner_pid, uint32_t pid) {
  if (folder.is_open() && logs_.size() < kMostFiles)
    logs_.push_back({std::move(folder), "-" + std::to_string(inner_pid) + "-v8.log", 0, pid});
}

void AddedFiles::remove() const {
  for (const File& file : files_) {
    struct stat status;
    bool is_it = has_ended(file.pid) &&
                 fstatat(file.folder.number(), file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                 status.st_ino == file.inode && S_ISREG(status.st_mode);
    if (is_it) unlinkat(file.folder.number(), file.name.c_str(), 0);
  }
  for (const File& log : logs_) {
    if (has_ended(log.pid)) remove_v8_logs(log.folder, log.name);
  }
}

}  // namespace jitprof
