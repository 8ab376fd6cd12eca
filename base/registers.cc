// SPDX-License-Identifier: Apache-2.0
#include "base/registers.h"

namespace jitprof {

const char* name_of(Register number) {
  static constexpr std::array<const char*, kRegisterCount> kNames = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                                     "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                                     "r12", "r13", "r14", "r15", "rip"};
  return kNames[static_cast<unsigned>(number)];
}

std::optional<Register> register_named(std::string_view name) {
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    if (name == name_of(static_cast<Register>(i))) return static_cast<Register>(i);
  }
  return std::nullopt;
}

}  // namespace jitprof
