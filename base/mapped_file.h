// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace jitprof {

// A regular file's bytes mapped read-only, or bytes held in memory that stand for a file. Owns them; the
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

 private:
  void release();
  Bytes bytes_;
  void* mapping_ = nullptr;
  std::vector<std::byte> memory_;
};

}  // namespace jitprof
