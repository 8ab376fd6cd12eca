// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/stopped_program.h"

#include <sstream>

#include "base/result.h"

namespace jitprof::tests {

StoppedProgram::StoppedProgram(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment)
    : program_(arguments, environment) {
  JP_CHECK(program_.run_to_breakpoint());
  program_.tell(modules_, processes_);
}

KeptWalk StoppedProgram::walk(size_t stack_bytes, std::optional<uint64_t> interrupted_sp) {
  TakenSample taken = program_.sample(stack_bytes, interrupted_sp);
  return walk_sample(taken.sample, processes_.process(taken.sample.pid), unwinding_.places);
}

std::string StoppedProgram::place_of(const Frame& frame) const {
  std::ostringstream text;
  if (!frame.module.is_none()) text << modules_.module(frame.module).name() << "+";
  text << "0x" << std::hex << frame.position.value;
  return text.str();
}

}  // namespace jitprof::tests
