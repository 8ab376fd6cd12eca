// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace jitprof {

// A regular file's bytes mapped, or bytes held in memory that stand for a file. Owns them; the
// bytes do not move when the MappedFile does.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  static MappedFile from_memory(std::vector<std::byte> bytes);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  Bytes bytes() const { return bytes_; }

  // What is before `offset` will hardly be read again, so that its pages need not stay in memory; it can
  // still be read. For files of many gigabytes that are gone through once. Does something every 16 MiB only.
  void forget_before(uint64_t offset);

 private:
  void release();
  Bytes bytes_;
  void* mapping_ = nullptr;
  uint64_t forgotten_ = 0;
  std::vector<std::byte> memory_;
};

}  // namespace jitprof
