// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"
#include "profiler/fd.h"

namespace jitprof {

// Where a recording goes: a file, keeping one that was there as NAME.old, or standard output for "-".
class OutputFile {
 public:
  // Finds out that the output can be written without touching one that exists: whether there will be a
  // recording is only known once the command runs.
  static Result<OutputFile> prepare(const std::string& path);

  // Removes what prepare created, unless commit was called.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  // There will be a recording: takes the place of an existing file.
  Status commit();

  Status write(Bytes bytes);
  uint64_t bytes_written() const { return written_; }

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
  Fd file_;
  bool created_ = false;
  bool replaces_ = false;
  uint64_t written_ = 0;
};

}  // namespace jitprof
