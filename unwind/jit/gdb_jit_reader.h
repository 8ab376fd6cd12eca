// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/event.h"
#include "unwind/jit/jit_code.h"

namespace jitprof {

// Reads the objects of the GDB JIT interface of all processes, as the recorder copied them: in pieces, and
// with a word when they were taken back.
class GdbJitReader {
 public:
  // `log` outlives this.
  explicit GdbJitReader(JitLog& log) : log_(log) {}

  void add(const SideFileEvent& piece);
  // Once all pieces are there.
  void finish();

 private:
  struct Object {
    std::vector<std::byte> bytes;
    uint64_t whole_size = 0;
    std::vector<JitChange> loads;  // once it is whole
  };
  using ObjectKey = std::pair<uint32_t, std::string>;  // process, name

  void load(Object& object, const SideFileEvent& last_piece);
  void unload(const ObjectKey& key, uint64_t time_ns);

  JitLog& log_;
  std::map<ObjectKey, Object> objects_;
};

}  // namespace jitprof
