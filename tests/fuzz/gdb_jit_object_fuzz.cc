// SPDX-License-Identifier: Apache-2.0

// Any bytes as a symbol file of the GDB JIT interface: must end, within bounded memory, without a crash, and
// so must those who read what comes out.

#include <span>

#include "unwind/cfi/unwind_table.h"
#include "unwind/jit/gdb_jit_object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jitprof;
  Bytes bytes = std::as_bytes(std::span(data, size));
  Result<GdbJitObject> object = read_gdb_jit_object({bytes.begin(), bytes.end()}, "fuzz");
  if (!object.ok()) return 0;
  uint64_t end = 0;
  for (const GdbJitObject::CodeRange& range : object.value().code_ranges) {
    JP_CHECK(range.size > 0 && range.start.value >= end);
    end = range.start.value + range.size;
  }
  UnwindTable::compile(*object.value().code.object);
  object.value().code.object->code_symbols();
  return 0;
}
