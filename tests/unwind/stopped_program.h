// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/unwind/function_symbols.h"
#include "tests/unwind/traced_program.h"
#include "tests/unwind/unwinding.h"
#include "tests/unwind/walk_sample.h"

namespace jitprof::tests {

// A traced program that stands at its first breakpoint, and what is mapped there: its stack can be walked
// from wherever it stands.
class StoppedProgram {
 public:
  explicit StoppedProgram(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment = {});

  TracedProgram& program() { return program_; }
  const ModuleTable& modules() const { return modules_; }

  // The walk from where the program stands, over that many bytes of its stack and of an interrupted one.
  KeptWalk walk(size_t stack_bytes = 128 << 10, std::optional<uint64_t> interrupted_sp = std::nullopt);
  std::string name_of(const Frame& frame) { return symbols_.name_of(frame); }
  // The functions of all frames that have one, leaf first, joined by ";".
  std::string names_of(const KeptWalk& walk) { return symbols_.names_of(walk); }
  // "libc.so.6+0x1234"
  std::string place_of(const Frame& frame) const;

 private:
  TracedProgram program_;
  ModuleTable modules_{""};
  ProcessTable processes_{modules_};
  FunctionSymbols symbols_{modules_};
  Unwinding unwinding_{modules_};
};

}  // namespace jitprof::tests
