// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/shadow_stack.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace jitprof::tests {
namespace {

constexpr uint64_t kSigreturn = 15;
constexpr uint64_t kLongestCall = 8;

bool begins_with(const std::vector<std::byte>& code, std::initializer_list<uint8_t> bytes) {
  return code.size() >= bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), code.begin(),
                    [](uint8_t left, std::byte right) { return std::byte{left} == right; });
}

bool is_return(const std::vector<std::byte>& code) {
  return begins_with(code, {0xc3}) || begins_with(code, {0xf3, 0xc3}) || begins_with(code, {0xf2, 0xc3});
}

bool is_sigreturn(const user_regs_struct& before, const std::vector<std::byte>& code) {
  return begins_with(code, {0x0f, 0x05}) && before.rax == kSigreturn;
}

struct NamedValue {
  Register number;
  uint64_t value;
};
std::array<NamedValue, 6> callee_saved(const user_regs_struct& regs) {
  return {{{Register::rbx, regs.rbx},
           {Register::rbp, regs.rbp},
           {Register::r12, regs.r12},
           {Register::r13, regs.r13},
           {Register::r14, regs.r14},
           {Register::r15, regs.r15}}};
}
std::array<NamedValue, 9> caller_saved(const user_regs_struct& regs) {
  return {{{Register::rax, regs.rax},
           {Register::rdx, regs.rdx},
           {Register::rcx, regs.rcx},
           {Register::rsi, regs.rsi},
           {Register::rdi, regs.rdi},
           {Register::r8, regs.r8},
           {Register::r9, regs.r9},
           {Register::r10, regs.r10},
           {Register::r11, regs.r11}}};
}

template <class Values>
std::string wrong_register(const Registers& known, const Values& values) {
  std::ostringstream text;
  text << std::hex;
  for (const NamedValue& right : values) {
    auto value = known.find(right.number);
    if (value && *value != right.value) {
      text << " " << jitprof::name_of(right.number) << " is " << *value << " for " << right.value;
    }
  }
  return text.str();
}

std::string at_frame(size_t index, const std::string& what) {
  return "frame " + std::to_string(index) + ":" + what;
}

std::string hex(uint64_t wrong, uint64_t right) {
  std::ostringstream text;
  text << std::hex << wrong << " for " << right;
  return text.str();
}

}  // namespace

void ShadowStack::follow(const user_regs_struct& before, const std::vector<std::byte>& code,
                         TracedProgram::Step step, const TracedProgram& program) {
  const user_regs_struct& now = program.registers();
  if (step == TracedProgram::Step::kSignal) return enter_handler(before, program);
  bool leaves = is_return(code) || is_sigreturn(before, code);
  if (leaves && !activations_.empty() && activations_.back().registers.rip == now.rip) {
    activations_.pop_back();
    return;
  }
  if (now.rsp + 8 != before.rsp) return;
  uint64_t pushed = program.word_at(now.rsp).value_or(0);
  bool is_call = pushed > before.rip && pushed <= before.rip + kLongestCall && now.rip != pushed;
  if (!is_call) return;
  Activation caller{.registers = before};
  caller.registers.rip = pushed;
  activations_.push_back(caller);
}

// The kernel pushes the way back to the trampoline, which restores what it interrupted.
void ShadowStack::enter_handler(const user_regs_struct& before, const TracedProgram& program) {
  activations_.push_back({.registers = before, .was_interrupted = true});
  Activation trampoline{.registers = before};
  trampoline.registers.rip = program.word_at(program.registers().rsp).value_or(0);
  trampoline.registers.rsp = program.registers().rsp + 8;
  activations_.push_back(trampoline);
}

std::optional<uint64_t> ShadowStack::interrupted_sp(uint64_t sp, size_t stack_bytes) const {
  for (auto it = activations_.rbegin(); it != activations_.rend(); ++it) {
    uint64_t interrupted = it->registers.rsp;
    if (it->was_interrupted && (interrupted < sp || interrupted >= sp + stack_bytes)) return interrupted;
  }
  return std::nullopt;
}

std::string ShadowStack::difference_to(const KeptWalk& walk, const user_regs_struct& now) const {
  std::vector<const user_regs_struct*> right = {&now};
  std::vector<bool> was_interrupted = {true};
  for (auto it = activations_.rbegin(); it != activations_.rend(); ++it) {
    right.push_back(&it->registers);
    was_interrupted.push_back(it->was_interrupted);
  }
  for (size_t i = 0; i < right.size(); ++i) {
    if (i >= walk.frames.size()) return at_frame(i, std::string(" none, ") + jitprof::name_of(walk.stop));
    const KeptFrame& frame = walk.frames[i];
    if (frame.pc.value != right[i]->rip) return at_frame(i, " pc " + hex(frame.pc.value, right[i]->rip));
    uint64_t cfa = i + 1 < right.size() ? right[i + 1]->rsp : outer_.frames[0].cfa.value;
    if (frame.cfa.value != cfa) return at_frame(i, " CFA " + hex(frame.cfa.value, cfa));
    std::string wrong = wrong_register(frame.registers, callee_saved(*right[i]));
    if (was_interrupted[i]) wrong += wrong_register(frame.registers, caller_saved(*right[i]));
    if (!wrong.empty()) return at_frame(i, wrong);
  }
  size_t inner = right.size() - 1;
  if (walk.frames.size() != inner + outer_.frames.size() || walk.stop != outer_.stop) {
    return std::string(" ends as ") + jitprof::name_of(walk.stop) + " after " +
           std::to_string(walk.frames.size()) + " frames for " + std::to_string(inner + outer_.frames.size());
  }
  for (size_t i = 1; i < outer_.frames.size(); ++i) {
    if (walk.frames[inner + i].pc != outer_.frames[i].pc) return at_frame(inner + i, " outer pc differs");
  }
  return "";
}

}  // namespace jitprof::tests
