// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/registers.h"

namespace jitprof {

// What one x86-64 instruction does to the stack, to positions on it that registers hold, and to the flow of
// control. Whatever else it does shows in `writes` alone.
struct Instruction {
  enum class Kind : uint8_t {
    kOther,
    kNothing,  // fills room between code
    kPush,     // `value` bytes; of `source` if that is a whole register
    kPop,      // `value` bytes, into `target` if that is a whole register
    kMove,     // target = source
    kAdd,      // target += value
    kLea,      // target = source + value
    kLoad,     // target = 8 bytes at source + value
    kStore,    // 8 bytes of `target` to source + value
    kCompare,  // target with source
    kLeave,    // rsp = rbp, pop rbp
    kCall,     // direct: `value` is the target, from this instruction's first byte on
    kCallFar,  // to where a register or memory says
    kJump,     // direct, `value` as for kCall
    kJumpFar,  // to where a register or memory says
    kBranch,   // perhaps to `value`, as for kCall
    kReturn,   // and pops `value` bytes more
    kTrap,     // goes on nowhere: ud2, hlt
  };
  Kind kind = Kind::kOther;
  uint8_t size = 0;
  std::optional<Register> target, source;
  int64_t value = 0;
  uint32_t writes = 0;  // a bit for each integer register of which any part is written

  bool does_write(Register number) const { return writes >> static_cast<unsigned>(number) & 1; }
};

// nullopt: no instruction begins there, or its last byte is missing.
std::optional<Instruction> decode_instruction(Bytes code);

}  // namespace jitprof
