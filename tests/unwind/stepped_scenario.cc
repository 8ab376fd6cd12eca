// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/stepped_scenario.h"

#include "base/result.h"

namespace jitprof::tests {
namespace {

constexpr size_t kStackBytes = 128 << 10;
constexpr size_t kLongestInstruction = 15;
// Far more than any scenario has; a lost program ends here.
constexpr size_t kMaxSteps = 200'000;

}  // namespace

SteppedScenario::SteppedScenario(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment)
    : stopped_(arguments, environment), first_(stopped_.walk(kStackBytes)) {
  TracedProgram& program = stopped_.program();
  ShadowStack shadow(first_);
  for (size_t i = 0; i < kMaxSteps; ++i) {
    check(shadow);
    user_regs_struct before = program.registers();
    std::vector<std::byte> code = program.bytes_at(before.rip, kLongestInstruction);
    TracedProgram::Step step = program.step();
    if (step == TracedProgram::Step::kBreakpoint || step == TracedProgram::Step::kEnded) return;
    shadow.follow(before, code, step, program);
  }
}

void SteppedScenario::check(const ShadowStack& shadow) {
  const user_regs_struct& now = stopped_.program().registers();
  KeptWalk walk = stopped_.walk(kStackBytes, shadow.interrupted_sp(now.rsp, kStackBytes));
  JP_CHECK(!walk.frames.empty());
  const Frame& top = walk.frames[0].frame;
  std::string function = stopped_.name_of(top);
  std::string place = stopped_.place_of(top);
  if (function == "?") function = place.substr(0, place.find('+'));
  stepped_.insert(function);
  std::string wrong = shadow.difference_to(walk, now);
  if (wrong.empty()) return;
  if (walk.frames.size() == 1 && walk.stop == StopReason::kNoUnwindInfo) {
    without_cfi_.insert(place);
  } else {
    faults_.try_emplace(function, place + " " + wrong);
  }
}

std::string SteppedScenario::faults() const {
  std::string text;
  for (const auto& [function, fault] : faults_) text += function + " at " + fault + "\n";
  return text;
}

std::string SteppedScenario::without_cfi() const {
  std::string text;
  for (const std::string& place : without_cfi_) text += place + "\n";
  return text;
}

bool SteppedScenario::stepped_in(std::string_view name) const {
  auto first = stepped_.lower_bound(std::string(name));
  return first != stepped_.end() && first->starts_with(name);
}

}  // namespace jitprof::tests
