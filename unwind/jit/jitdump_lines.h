// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/byte_reader.h"
#include "base/position.h"
#include "unwind/jit/jit_code.h"

namespace jitprof {

// Reads the JIT_CODE_DEBUG_INFO records of one jitdump into the line tables of its code.
class JitdumpLines {
 public:
  // What its producer is thought to do until a record shows it: V8 and LLVM count pcs from an ELF header in
  // front of the code.
  explicit JitdumpLines(bool counts_elf_header) : counts_elf_header_(counts_elf_header) {}

  // Gives `code`, which lies at `start` and has its name and size, its lines and files; a file that is not
  // known is "". `body` is the record behind its prefix. V8 and jit.h put columns where others put
  // discriminators. False: the record is not in order, and nothing was changed.
  bool read(Bytes body, RuntimeAddr start, bool has_columns, JitCode& code);

 private:
  bool counts_elf_header_;
};

}  // namespace jitprof
