// SPDX-License-Identifier: Apache-2.0
#include "profiler/side_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "profiler/clock.h"
#include "profiler/process_files.h"
#include "profiler/record_writers.h"

namespace jitprof {
namespace {

// Each takes up to three descriptors, which events need as well.
constexpr size_t kMaxProcesses = 512;
constexpr size_t kMaxJitDumps = 8;
// A perf map of 10 million methods; beyond it a file is something else.
constexpr uint64_t kMaxFileBytes = 1u << 30;

}  // namespace

GrowingFile::GrowingFile(Fd file, SideFileKind kind, uint32_t pid, std::string path, uint64_t last_look_ns)
    : file_(std::move(file)), kind_(kind), pid_(pid), path_(std::move(path)), last_look_ns_(last_look_ns) {
  struct stat status;
  if (fstat(file_.number(), &status) == 0) inode_ = status.st_ino;
}

bool GrowingFile::copy_new(RecordingWriter& writer, std::vector<std::byte>& buffer) {
  uint64_t look_ns = monotonic_ns();
  struct stat status;
  if (fstat(file_.number(), &status) != 0) return false;
  uint64_t size = std::min(static_cast<uint64_t>(status.st_size), kMaxFileBytes);
  // Shorter than before: written anew.
  if (size < copied_) copied_ = 0;
  bool has_news = copied_ < size;
  while (copied_ < size) {
    ssize_t got = pread(file_.number(), buffer.data(), std::min<uint64_t>(buffer.size(), size - copied_),
                        static_cast<off_t>(copied_));
    if (got <= 0) return false;
    SideFileEvent event;
    event.time_ns = monotonic_ns();
    event.kind = kind_;
    event.pid = pid_;
    event.path = path_;
    event.offset = copied_;
    event.previous_look_ns = last_look_ns_;
    event.bytes = {buffer.data(), static_cast<size_t>(got)};
    write_side_file(writer, event);
    copied_ += static_cast<uint64_t>(got);
  }
  last_look_ns_ = look_ns;
  return has_news;
}

SideFiles::SideFiles(RecordingWriter& writer, const JitSetup& jit_setup)
    : writer_(writer),
      adds_perf_maps_(jit_setup.adds_perf_maps),
      adds_jitdumps_(jit_setup.adds_jitdumps),
      buffer_(format::kMaxSidePiece) {}

SideFiles::Process* SideFiles::watch(uint32_t pid, uint64_t since_ns) {
  if (auto found = processes_.find(pid); found != processes_.end()) return &found->second;
  if (processes_.size() >= kMaxProcesses) return nullptr;
  uint32_t inner_pid = inner_pid_of(pid);
  if (inner_pid == 0) return nullptr;
  Process& process = processes_[pid];
  process.pid = pid;
  process.inner_pid = inner_pid;
  process.last_map_look_ns = since_ns;
  process.map_name = "perf-" + std::to_string(inner_pid) + ".map";
  process.temporary_folder = open_folder_of(pid, "/tmp");
  return &process;
}

void SideFiles::on_mapping(const Mapping& mapping) {
  bool is_dump = is_jitdump(mapping.path);
  if (!is_dump && !mapping.may_hold_jit_code()) return;
  Process* process = watch(mapping.pid, mapping.time_ns);
  if (process == nullptr || !is_dump || process->jit_dumps.size() == kMaxJitDumps) return;
  std::string path(mapping.path);
  Fd file = open_mapped_file(mapping.pid, mapping.start, mapping.size);
  if (!file.is_open()) file = open_file_of(mapping.pid, path);
  if (!file.is_open()) return;
  GrowingFile dump(std::move(file), SideFileKind::kJitDump, mapping.pid, path, 0);
  for (const GrowingFile& known : process->jit_dumps) {
    if (known.inode() == dump.inode()) return;
  }
  if (adds_jitdumps_) note_added_dump(*process, path, dump.inode());
  process->jit_dumps.push_back(std::move(dump));
}

void SideFiles::note_added_dump(const Process& process, const std::string& path, uint64_t inode) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return;
  std::string folder = path.substr(0, std::max<size_t>(slash, 1));
  added_.add(open_folder_of(process.pid, folder), path.substr(slash + 1), inode, process.pid);
  added_.add_v8_logs(open_folder_of(process.pid, folder), process.inner_pid, process.pid);
}

void SideFiles::on_task(const TaskRecord& task) {
  bool is_new_process = task.type == PERF_RECORD_FORK && task.pid != task.parent_pid;
  bool is_end = task.type == PERF_RECORD_EXIT && task.pid == task.tid;
  if (!is_new_process && !is_end && !task.is_exec) return;
  if (auto found = processes_.find(task.pid); found != processes_.end()) {
    copy_new(found->second);
    // The main thread may end before others, which go on writing.
    if (is_end) {
      found->second.has_ended = true;
    } else {
      processes_.erase(found);
    }
  }
  // A forked child runs on in copies of its parent's code, and may compile more under its own pid.
  if (is_new_process && processes_.count(task.parent_pid) != 0) watch(task.pid, task.time_ns);
}

bool SideFiles::copy_new() {
  bool has_news = false;
  for (auto at = processes_.begin(); at != processes_.end();) {
    Process& process = at->second;
    has_news |= copy_new(process);
    bool is_gone = process.has_ended && kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH;
    at = is_gone ? processes_.erase(at) : std::next(at);
  }
  return has_news;
}

bool SideFiles::copy_new(Process& process) {
  find_perf_map(process);
  bool has_news = false;
  for (GrowingFile& file : process.perf_map) has_news |= file.copy_new(writer_, buffer_);
  for (GrowingFile& file : process.jit_dumps) file.copy_new(writer_, buffer_);
  return has_news;
}

void SideFiles::find_perf_map(Process& process) {
  uint64_t last_look_ns = std::exchange(process.last_map_look_ns, monotonic_ns());
  struct stat status;
  if (!process.temporary_folder.is_open() ||
      fstatat(process.temporary_folder.number(), process.map_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) !=
          0) {
    return;
  }
  // Another inode under the name: the file was written anew and renamed.
  if (!process.perf_map.empty() && process.perf_map.front().inode() == status.st_ino) return;
  Fd file = open_file_in(process.temporary_folder, process.map_name);
  if (!file.is_open()) return;
  process.perf_map.clear();
  process.perf_map.emplace_back(std::move(file), SideFileKind::kPerfMap, process.pid,
                                "/tmp/" + process.map_name, last_look_ns);
  if (adds_perf_maps_)
    added_.add(open_folder_of(process.pid, "/tmp"), process.map_name, status.st_ino, process.pid);
}

}  // namespace jitprof
