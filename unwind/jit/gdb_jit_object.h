// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/position.h"
#include "base/result.h"
#include "unwind/jit/jit_code.h"

namespace jitprof {

// One symbol file that a runtime registered with the GDB JIT interface, as an ordinary ELF file.
struct GdbJitObject {
  struct CodeRange {
    RuntimeAddr start;
    uint64_t size = 0;
  };
  // Channel kGdbJit; `object` is an ET_EXEC at the places where its sections lie in the process: symbols,
  // frame tables, DWARF and PT_LOADs mean them.
  JitCode code;
  // Each section with code, by start; none is empty, none overlaps another. None: LLVM registers objects of
  // data alone too.
  std::vector<CodeRange> code_ranges;
  // In plain prose, counted; what they tell of is left as the runtime wrote it.
  std::map<std::string, uint64_t> shortfalls;
};

// What such a file is published as: a relocatable object whose sections say in sh_addr where their bytes are
// loaded, with symbols relative to their sections and relocations still to be applied (LLVM), or a file that
// is or only calls itself linked (QEMU, wasmtime); its code may be SHT_NOBITS and under any name (V8, PHP,
// LLVM's .ltext). Error: no ELF file of x86-64.
Result<GdbJitObject> read_gdb_jit_object(std::vector<std::byte> bytes, const std::string& name);

}  // namespace jitprof
