// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace jitprof {

Result<MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a fifo standing where a binary once was must not hang the report.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Error{"cannot open '" + path + "': " + std::strerror(errno)};
  struct stat status;
  std::string problem;
  if (fstat(fd, &status) != 0) {
    problem = std::strerror(errno);
  } else if (S_ISDIR(status.st_mode)) {
    problem = "it is a directory";
  } else if (!S_ISREG(status.st_mode)) {
    problem = "it is not a regular file";
  }
  if (!problem.empty()) {
    close(fd);
    return Error{"cannot read '" + path + "': " + problem};
  }
  MappedFile file;
  if (status.st_size > 0) {
    // Writable because libelf 0.188 marks a compressed section as inflated in the image it was given; the
    // pages are private, so the file never changes.
    void* mapping = mmap(nullptr, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED) {
      problem = std::strerror(errno);
      close(fd);
      return Error{"cannot map '" + path + "': " + problem};
    }
    file.mapping_ = mapping;
    file.bytes_ = {static_cast<const std::byte*>(mapping), static_cast<size_t>(status.st_size)};
  }
  close(fd);
  return file;
}

MappedFile MappedFile::from_memory(std::vector<std::byte> bytes) {
  MappedFile file;
  file.memory_ = std::move(bytes);
  file.bytes_ = file.memory_;
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    release();
    memory_ = std::move(other.memory_);
    bytes_ = std::exchange(other.bytes_, {});
    mapping_ = std::exchange(other.mapping_, nullptr);
    forgotten_ = other.forgotten_;
  }
  return *this;
}

MappedFile::~MappedFile() { release(); }

void MappedFile::forget_before(uint64_t offset) {
  constexpr uint64_t kStep = 16u << 20;  // a multiple of every page size
  uint64_t end = std::min<uint64_t>(offset, bytes_.size()) / kStep * kStep;
  if (mapping_ == nullptr || end <= forgotten_) return;
  // What was given back before comes in again when a record held for a later round is looked at: the last of
  // it is given back once more.
  constexpr uint64_t kHeldAtMost = 256u << 20;
  uint64_t start = forgotten_ - std::min(forgotten_, kHeldAtMost);
  madvise(static_cast<std::byte*>(mapping_) + start, end - start, MADV_DONTNEED);
  forgotten_ = end;
}

void MappedFile::release() {
  if (mapping_ != nullptr) munmap(mapping_, bytes_.size());
  mapping_ = nullptr;
  bytes_ = {};
}

}  // namespace jitprof
