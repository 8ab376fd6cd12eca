// SPDX-License-Identifier: Apache-2.0
#include "unwind/walk.h"

#include <optional>

#include "unwind/cfi/epilogue.h"
#include "unwind/cfi/step.h"
#include "unwind/stack_memory.h"

namespace jitprof {
namespace {

constexpr unsigned kMaxDepth = 100'000;

// A pc of a process and how far it is from the place to look up: a return address may be the first byte of
// another function (a call that does not return ends its own), so a caller is looked up inside its call.
struct CodePosition {
  RuntimeAddr pc;
  bool is_exact;
  RuntimeAddr lookup() const { return is_exact ? pc : pc.minus(1); }
};

struct LocatedFrame {
  Frame frame;
  const Module* module = nullptr;
};

LocatedFrame locate(const CodePosition& position, FrameOrigin origin, const Process& process,
                    const ModuleTable& modules) {
  RuntimeAddr lookup = position.lookup();
  const Mapping* mapping = process.space.find(lookup);
  if (mapping == nullptr) return {{.position = {lookup.value}, .origin = origin}};
  return {{.module = mapping->module, .position = mapping->bias.to_elf(lookup), .origin = origin},
          &modules.module(mapping->module)};
}

Bytes code_at(const Module& module, ElfAddr position) {
  return module.elf ? module.elf->bytes_from(position) : Bytes();
}

// Whether code without CFI is where the kernel starts a program: nothing called that. ld.so's _start and what
// follows it have no CFI (glibc 2.36: 80 bytes); an executable's own _start marks its root in CFI.
bool is_entry_code(const Module& module, ElfAddr position) {
  constexpr uint64_t kMaxEntryCode = 128;
  if (!module.elf || module.elf->entry() == ElfAddr{0} || position < module.elf->entry()) return false;
  return position.distance_from(module.elf->entry()) < kMaxEntryCode;
}

// The pcs of a recorded chain; of a sample without one, the place where the event hit.
std::span<const RuntimeAddr> chain_of(std::span<const RuntimeAddr> recorded, const RuntimeAddr& hit,
                                      bool hit_is_here) {
  return recorded.empty() && hit_is_here ? std::span(&hit, 1) : recorded;
}

StopReason walk_chain(const Sample& sample, const Process& process, const ModuleTable& modules,
                      RuleCache& rules, const FrameVisitor& visit) {
  const Registers nothing_known;
  const UnwindRule* outermost = nullptr;
  auto chain = chain_of(sample.user_chain, sample.ip, !sample.in_kernel);
  for (size_t i = 0; i < chain.size(); ++i) {
    FrameOrigin origin = i == 0 ? FrameOrigin::kTop : FrameOrigin::kRecordedChain;
    LocatedFrame located = locate({chain[i], i == 0}, origin, process, modules);
    bool is_last = i + 1 == chain.size();
    if (is_last && located.module != nullptr) {
      outermost = rules.find(*located.module, located.frame.position);
    }
    visit({.pc = chain[i],
           .frame = located.frame,
           .cfa = {},
           .registers = i == 0 ? sample.registers : nothing_known,
           .rule = is_last ? outermost : nullptr});
  }
  // A kernel thread has no user part and no mappings: the kernel chain is all there ever was.
  if (chain.empty() && process.space.mappings().empty()) return StopReason::kReachedRoot;
  bool is_root = outermost != nullptr && outermost->is_root();
  return is_root ? StopReason::kReachedRoot : StopReason::kRecordedChain;
}

// One walk by CFI. Stands on a frame: its registers, whether its pc is exact, and the sp its callee left it.
class CfiWalk {
 public:
  CfiWalk(const Sample& sample, const Process& process, const ModuleTable& modules, RuleCache& rules,
          const FrameVisitor& visit)
      : process_(process),
        modules_(modules),
        rules_(rules),
        visit_(visit),
        memory_(sample),
        registers_(sample.registers),
        low_({*sample.registers.find(Register::rsp)}) {}

  StopReason run() {
    for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
      if (auto reason = step()) return *reason;
    }
    return StopReason::kDepthLimit;
  }

 private:
  // Visits the frame and moves to its caller, or says why there is none to move to.
  std::optional<StopReason> step() {
    CodePosition position{{*registers_.find(Register::rip)}, is_exact_};
    // Nothing was called from there, so it is no frame; and only CFI can make it a root.
    if (!is_exact_ && position.pc.value == 0) return StopReason::kUnmapped;

    LocatedFrame here = locate(position, origin_, process_, modules_);
    const UnwindRule* rule =
        here.module == nullptr ? nullptr : rules_.find(*here.module, here.frame.position);
    // Nothing called the trampoline that a signal handler returns to: the kernel set up a return to its first
    // instruction. (Its CFI begins a byte early to be found by pc - 1 all the same.)
    if (rule != nullptr && rule->is_signal_frame && !is_exact_)
      here.frame.position = here.frame.position.plus(1);
    Recovered cfa =
        rule == nullptr ? Recovered(StopReason::kNoUnwindInfo) : cfa_of(*rule, registers_, memory_);
    visit_({.pc = position.pc,
            .frame = here.frame,
            .cfa = {cfa.ok() ? cfa.value() : 0},
            .registers = registers_,
            .rule = rule});
    if (here.module == nullptr) return StopReason::kUnmapped;
    if (rule != nullptr && rule->is_root()) return StopReason::kReachedRoot;
    if (rule == nullptr && is_entry_code(*here.module, here.frame.position)) return StopReason::kReachedRoot;
    if (!cfa.ok()) return cfa.problem();
    bool in_epilogue = is_exact_ && is_epilogue(code_at(*here.module, here.frame.position));
    return move_to_caller(*rule, {cfa.value()}, in_epilogue);
  }

  std::optional<StopReason> move_to_caller(const UnwindRule& rule, RuntimeAddr cfa, bool in_epilogue) {
    // An interrupted function may have popped its own return address (vfork keeps it in a register); any
    // other has it between its sp and the CFA. Only a signal frame may lead down: from an alternate stack.
    bool grows = is_exact_ ? cfa >= low_ : cfa > low_;
    if (!grows && !rule.is_signal_frame) return StopReason::kNoProgress;
    Registers caller;
    if (auto problem = recover_caller(rule, cfa.value, registers_, memory_, in_epilogue, caller))
      return problem;
    registers_ = caller;
    low_ = cfa;
    is_exact_ = rule.is_signal_frame;
    origin_ = FrameOrigin::kCfi;
    return std::nullopt;
  }

  const Process& process_;
  const ModuleTable& modules_;
  RuleCache& rules_;
  const FrameVisitor& visit_;
  const StackMemory memory_;
  Registers registers_;
  RuntimeAddr low_;
  bool is_exact_ = true;
  FrameOrigin origin_ = FrameOrigin::kTop;
};

}  // namespace

StopReason walk(const Sample& sample, const Process& process, const ModuleTable& modules, RuleCache& rules,
                const FrameVisitor& visit) {
  const Registers& registers = sample.registers;
  bool has_registers = registers.knows(Register::rip) && registers.knows(Register::rsp);
  // Without a stack the registers alone still give the first frame, which is all there is of a process whose
  // memory goes away while it is in execve or exits.
  bool is_walkable = has_registers && (sample.stack_count > 0 || sample.user_chain.empty());
  if (!is_walkable) return walk_chain(sample, process, modules, rules, visit);
  return CfiWalk(sample, process, modules, rules, visit).run();
}

void unwind(const Sample& sample, const ProcessTable& processes, const Process& process, RuleCache& rules,
            UnwoundStack& stack) {
  stack.frames.clear();
  auto kernel_chain = chain_of(sample.kernel_chain, sample.ip, sample.in_kernel);
  for (size_t i = 0; i < kernel_chain.size(); ++i) {
    RuntimeAddr lookup = CodePosition{kernel_chain[i], i == 0}.lookup();
    stack.frames.push_back({.module = processes.kernel_module(lookup),
                            .position = {lookup.value},
                            .origin = i == 0 ? FrameOrigin::kTop : FrameOrigin::kRecordedChain,
                            .in_kernel = true});
  }
  stack.stop = walk(sample, process, processes.modules(), rules,
                    [&stack](const WalkedFrame& walked) { stack.frames.push_back(walked.frame); });
}

}  // namespace jitprof
