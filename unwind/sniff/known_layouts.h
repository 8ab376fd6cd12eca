// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "unwind/sniff/frame_layout.h"
#include "unwind/sniff/function_starts.h"
#include "unwind/space/module.h"

namespace jitprof {

// The frame layouts of the modules of one report, read from their code when they are first asked for and
// kept: in python's interpreter loop reading one takes half a millisecond. Asked by several threads at once.
class KnownLayouts {
 public:
  // nullopt: where the function begins is not known, or its code cannot be followed (decode_frame). A
  // caller's position is the last byte of its call. `framed_from`: how far into the function its frame stands
  // already, whatever its code did until there; the same whenever a position is asked for.
  std::optional<FrameLayout> find(const Module& module, ElfAddr position, CallState state,
                                  uint64_t framed_from = 0);

  // The function there, as the file's symbols or a compiler at run time say.
  std::optional<FunctionStarts::Function> function_at(const Module& module, ElfAddr position);

 private:
  struct OfModule {
    std::once_flag has_starts;
    std::optional<FunctionStarts> starts;  // of an ELF file
    std::mutex guard;
    std::unordered_map<uint64_t, std::optional<FrameLayout>> layouts;  // by position and state
  };
  OfModule& of(const Module& module);
  static std::optional<FunctionStarts::Function> function_in(OfModule& known, const Module& module,
                                                             ElfAddr position);

  std::mutex guard_;
  std::map<const Module*, std::unique_ptr<OfModule>> modules_;
};

}  // namespace jitprof
