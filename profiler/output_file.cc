// SPDX-License-Identifier: Apache-2.0
#include "profiler/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace jitprof {
namespace {

// A recording holds pieces of stacks: what was on them is the owner's business only.
constexpr mode_t kOwnerOnly = 0600;

Error cannot_write(const std::string& path, const std::string& reason) {
  return Error{"cannot write '" + path + "': " + reason};
}

}  // namespace

Result<OutputFile> OutputFile::prepare(const std::string& path) {
  OutputFile output(path);
  if (path == "-") {
    output.file_ = Fd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!output.file_.is_open()) return cannot_write("standard output", std::strerror(errno));
    return output;
  }
  struct stat status;
  bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return cannot_write(path, "it is a directory");
  output.replaces_ = exists && S_ISREG(status.st_mode);
  if (output.replaces_) {
    size_t slash = path.rfind('/');
    std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    if (access(folder.c_str(), W_OK | X_OK) != 0) return cannot_write(path, std::strerror(errno));
    return output;
  }
  output.file_ = Fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwnerOnly));
  if (!output.file_.is_open()) return cannot_write(path, std::strerror(errno));
  output.created_ = !exists;
  return output;
}

Status OutputFile::commit() {
  created_ = false;
  if (!replaces_) return Nothing{};
  std::string old = path_ + ".old";
  if (rename(path_.c_str(), old.c_str()) != 0) {
    return Error{"cannot keep '" + path_ + "' as '" + old + "': " + std::strerror(errno)};
  }
  file_ = Fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly));
  if (!file_.is_open()) return cannot_write(path_, std::strerror(errno));
  return Nothing{};
}

OutputFile::~OutputFile() {
  if (created_) unlink(path_.c_str());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::move(other.file_)),
      created_(std::exchange(other.created_, false)),
      replaces_(other.replaces_),
      written_(other.written_) {}

Status OutputFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    ssize_t done = ::write(file_.number(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return cannot_write(path_ == "-" ? "standard output" : path_, std::strerror(errno));
    written_ += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return Nothing{};
}

}  // namespace jitprof
