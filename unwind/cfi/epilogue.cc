// SPDX-License-Identifier: Apache-2.0
// Opcodes: Intel SDM volume 2, POP (58+r, 41 58+r), RET (C3, C2 iw, F3 C3), JMP (E9, EB).
#include "unwind/cfi/epilogue.h"

namespace jitprof {

bool is_epilogue(Bytes code) {
  ByteReader reader(code);
  unsigned pops = 0;
  while (reader.ok()) {
    uint8_t opcode = reader.u8();
    bool is_extended = opcode == 0x41;
    if (is_extended) opcode = reader.u8();
    if (reader.ok() && opcode >= 0x58 && opcode <= 0x5f) {
      ++pops;
      continue;
    }
    if (!reader.ok() || is_extended) return false;
    if (opcode == 0xf3) return reader.u8() == 0xc3;
    if (opcode == 0xc3 || opcode == 0xc2) return true;
    // A jump alone may lead anywhere in the function.
    return pops > 0 && (opcode == 0xe9 || opcode == 0xeb);
  }
  return false;
}

}  // namespace jitprof
