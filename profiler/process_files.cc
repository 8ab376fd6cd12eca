// SPDX-License-Identifier: Apache-2.0
#include "profiler/process_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "profiler/machine_limits.h"

namespace jitprof {
namespace {

// Turns an O_PATH descriptor into one to read from, if it stands for a regular file.
Fd reopen_regular(Fd handle) {
  struct stat status;
  if (!handle.is_open() || fstat(handle.number(), &status) != 0 || !S_ISREG(status.st_mode)) return Fd();
  std::string self = "/proc/self/fd/" + std::to_string(handle.number());
  return Fd(open(self.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

Fd open_handle_of(uint32_t pid, const std::string& path) {
  std::string root_path = "/proc/" + std::to_string(pid) + "/root";
  Fd root(open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return Fd();
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  long handle = syscall(SYS_openat2, root.number(), path.c_str(), &how, sizeof how);
  if (handle >= 0) return Fd(static_cast<int>(handle));
  if (errno != ENOSYS && errno != EPERM) return Fd();
  // Before Linux 5.6, or forbidden by a seccomp filter: without following a link at the end.
  return Fd(open((root_path + path).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

Fd open_folder_of(uint32_t pid, const std::string& path) { return open_handle_of(pid, path); }

Fd open_file_of(uint32_t pid, const std::string& path) { return reopen_regular(open_handle_of(pid, path)); }

Fd open_mapped_file(uint32_t pid, uint64_t start, uint64_t size) {
  char path[96];
  std::snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, start,
                start + size);
  return reopen_regular(Fd(open(path, O_PATH | O_CLOEXEC)));
}

Fd open_file_behind(const Mapping& mapping) {
  Fd file = open_mapped_file(mapping.pid, mapping.start, mapping.size);
  if (file.is_open()) return file;
  // Without the capability for map_files the path must do, and for a process that has ended our own view of
  // it. The inode tells whether it is still the file that was mapped; devices differ on btrfs and overlayfs.
  std::string path(mapping.path);
  file = open_file_of(mapping.pid, path);
  if (!file.is_open()) file = open_file_of(static_cast<uint32_t>(getpid()), path);
  struct stat status;
  if (!file.is_open() || fstat(file.number(), &status) != 0 || status.st_ino != mapping.inode) return Fd();
  return file;
}

Fd open_file_in(const Fd& folder, const std::string& name) {
  return reopen_regular(Fd(openat(folder.number(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)));
}

uint32_t inner_pid_of(uint32_t pid) {
  // "NSpid: 4711 1": from our namespace inwards.
  std::string pids = status_field(pid, "NSpid");
  size_t last = pids.find_last_of(" \t");
  return static_cast<uint32_t>(
      std::strtoul(pids.c_str() + (last == std::string::npos ? 0 : last + 1), nullptr, 10));
}

}  // namespace jitprof
