// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/position.h"

namespace jitprof {

// The x86-64 integer registers by their DWARF numbers (System V psABI, figure 3.36), and the program counter
// under the number of the return-address column.
enum class Register : uint8_t {
  rax,
  rdx,
  rcx,
  rbx,
  rsi,
  rdi,
  rbp,
  rsp,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
  rip
};
inline constexpr unsigned kRegisterCount = 17;

// A register file in which each register is either known or unavailable, never silently zero.
class Registers {
 public:
  bool knows(Register number) const { return (known_ >> index(number)) & 1; }
  std::optional<uint64_t> find(Register number) const {
    if (!knows(number)) return std::nullopt;
    return values_[index(number)];
  }
  void set(Register number, uint64_t value) {
    values_[index(number)] = value;
    known_ |= 1u << index(number);
  }
  void forget(Register number) { known_ &= ~(1u << index(number)); }
  bool empty() const { return known_ == 0; }

 private:
  static unsigned index(Register number) { return static_cast<unsigned>(number); }
  std::array<uint64_t, kRegisterCount> values_{};
  uint32_t known_ = 0;
};

// Whether a function gives the register back as it was (psABI, 3.2.1); rsp apart.
constexpr bool is_callee_saved(Register number) {
  switch (number) {
    case Register::rbx:
    case Register::rbp:
    case Register::r12:
    case Register::r13:
    case Register::r14:
    case Register::r15:
      return true;
    default:
      return false;
  }
}
// "rax" … "rip".
const char* name_of(Register number);
// nullopt: there is no such register.
std::optional<Register> register_named(std::string_view name);

}  // namespace jitprof
