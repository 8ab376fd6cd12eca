// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/position.h"
#include "profiler/fd.h"

namespace jitprof {

// The memory of one image of a process: it is empty once the process has ended or called exec, so that what
// was learned of the image is never used on another one.
class ProcessMemory {
 public:
  // Not open where ptrace would not be allowed either; errno says why.
  explicit ProcessMemory(uint32_t pid);

  bool is_open() const { return file_.is_open(); }
  // False when not all of it can be read.
  bool read(RuntimeAddr start, std::span<std::byte> bytes) const;
  template <class Struct>
  bool read_struct(RuntimeAddr start, Struct& record) const {
    static_assert(std::is_trivially_copyable_v<Struct>);
    return read(start, std::as_writable_bytes(std::span(&record, 1)));
  }
  // Whether the process has let go of it.
  bool is_gone() const;

 private:
  Fd file_;
};

}  // namespace jitprof
