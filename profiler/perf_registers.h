// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/registers.h"

namespace jitprof {

// The integer registers by perf's numbers (asm/perf_regs.h, PERF_REG_X86_*). Flags and segments are not kept:
// no unwind rule refers to them.
inline constexpr std::array<std::optional<Register>, 24> kPerfRegisters = {
    Register::rax, Register::rbx, Register::rcx, Register::rdx, Register::rsi, Register::rdi,
    Register::rbp, Register::rsp, Register::rip, std::nullopt,  std::nullopt,  std::nullopt,
    std::nullopt,  std::nullopt,  std::nullopt,  std::nullopt,  Register::r8,  Register::r9,
    Register::r10, Register::r11, Register::r12, Register::r13, Register::r14, Register::r15};

// Reads one value for each set bit of `mask`, lowest bit first.
inline Registers read_perf_registers(uint64_t mask, ByteReader& reader) {
  Registers registers;
  for (; mask != 0 && reader.ok(); mask &= mask - 1) {
    uint64_t value = reader.u64();
    auto number = static_cast<unsigned>(std::countr_zero(mask));
    if (number < kPerfRegisters.size() && kPerfRegisters[number] && reader.ok()) {
      registers.set(*kPerfRegisters[number], value);
    }
  }
  return registers;
}

}  // namespace jitprof
