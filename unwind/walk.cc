// SPDX-License-Identifier: Apache-2.0
#include "unwind/walk.h"

#include <optional>

#include "unwind/cfi/step.h"
#include "unwind/stack_memory.h"
#include "unwind/walked_ranges.h"

namespace jitprof {
namespace {

// A frame that is really there takes at least its return address. Wrong CFI may lead on without reading the
// stack at all.
uint64_t most_frames_in(const Sample& sample) {
  constexpr uint64_t kFramesWithoutStack = 1000;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sample.stack_count; ++i) bytes += sample.stack[i].bytes.size();
  return kFramesWithoutStack + bytes / sizeof(uint64_t);
}

Frame frame_of(const CodePlace& place, FrameOrigin origin) {
  return {.module = place.module, .origin = origin, .position = place.position};
}

// The pcs of a recorded chain; of a sample without one, the place where the event hit.
std::span<const RuntimeAddr> chain_of(std::span<const RuntimeAddr> recorded, const RuntimeAddr& hit,
                                      bool hit_is_here) {
  return recorded.empty() && hit_is_here ? std::span(&hit, 1) : recorded;
}

StopReason walk_chain(const Sample& sample, const Process& process, PlaceCache& places, FrameVisitor visit) {
  auto chain = chain_of(sample.user_chain, sample.ip, !sample.in_kernel);
  Leave outermost = Leave::kUnmapped;
  for (size_t i = 0; i < chain.size(); ++i) {
    const CodePlace& place = places.find(chain[i], i == 0);
    outermost = place.leave;
    visit(frame_of(place, i == 0 ? FrameOrigin::kTop : FrameOrigin::kRecordedChain),
          {.pc = chain[i], .is_top = i == 0, .registers = i == 0 ? &sample.registers : nullptr});
  }
  // A kernel thread has no user part and no mappings: the kernel chain is all there ever was.
  if (chain.empty() && process.space.mappings().empty()) return StopReason::kReachedRoot;
  return outermost == Leave::kRoot ? StopReason::kReachedRoot : StopReason::kRecordedChain;
}

// Where a walk stands: a frame's pc and whether that is exact, and the registers that nearly all rules make
// do with.
struct Cursor {
  RuntimeAddr pc;
  RuntimeAddr low;  // rsp: mostly the CFA of the frame called; at first where the sample was taken
  uint64_t fp = 0;
  bool knows_fp = false;
  bool is_exact = true;
  FrameOrigin origin = FrameOrigin::kTop;
  SnifferId sniffer{0};
  uint64_t depth = 0;

  // An interrupted function may have popped its own return address (vfork keeps it in a register); any other
  // has it between its sp and the CFA.
  bool grows_to(RuntimeAddr cfa) const { return is_exact ? cfa >= low : cfa > low; }
};

Frame frame_at(const Cursor& at, const CodePlace& place) {
  return {.module = place.module,
          .origin = at.origin,
          .sniffer = static_cast<uint8_t>(at.sniffer.index),
          .follows_no_call = at.origin == FrameOrigin::kSniffed && place.follows_no_call,
          .position = place.position};
}

// One walk over registers and stack.
class Walk {
 public:
  Walk(const Sample& sample, const Process& process, PlaceCache& places, FrameVisitor visit, bool follows_all,
       bool is_again = false)
      : sample_(sample),
        process_(process),
        places_(places),
        visit_(visit),
        memory_(sample),
        most_frames_(most_frames_in(sample)),
        is_again_(is_again),
        follows_all_(follows_all),
        ranges_({*sample.registers.find(Register::rsp)}) {
    take(sample.registers, {*sample.registers.find(Register::rsp)}, true);
    if (sample.stack_count > 0 && !is_again) places.trail().follow(sample);
  }

  StopReason run() {
    while (at_.depth < most_frames_) {
      if (auto stop = step()) return reason_of(*stop);
    }
    return StopReason::kDepthLimit;
  }

 private:
  using Stop = std::optional<StopReason>;

  StopReason reason_of(StopReason stop) const {
    bool lacks_bytes = stop == StopReason::kTruncated || stop == StopReason::kUnreadable;
    return lacks_bytes && is_off_the_copy_ ? StopReason::kOtherStack : stop;
  }

  // Why what lies below a CFA could not be read: where the CFA is none of the copied stack's but may be one
  // of another, code has switched stacks by itself.
  StopReason reason_at(RuntimeAddr cfa, StopReason problem) const {
    constexpr uint64_t kUserEnd = uint64_t{1} << 47;
    if (problem != StopReason::kUnreadable || sample_.stack_count == 0) return problem;
    bool may_be_stack = cfa.value % 8 == 0 && cfa.value < kUserEnd;
    return may_be_stack && !memory_.may_hold(cfa) ? StopReason::kOtherStack : problem;
  }

  // Visits a frame or several and moves to the caller, or says why there is none to move to.
  Stop step() {
    if (!follows_all_) {
      if (auto stop = step_by_short_rules()) return stop;
    }
    // By value: a second walk for the other registers may take the place's room in the cache.
    CodePlace place = places_.find(at_.pc, at_.is_exact);
    return step_carefully(place);
  }

  // As far as the two short forms of rules lead. The heart of the walk: it stands on a cursor of its own,
  // which the compiler keeps in registers.
  Stop step_by_short_rules() {
    Cursor at = at_;
    Stop stop;
    while (at.depth < most_frames_) {
      const CodePlace& place = places_.find(at.pc, at.is_exact);
      bool is_by_rbp = place.leave == Leave::kByRbp && at.knows_fp;
      if (!is_by_rbp && place.leave != Leave::kByRsp) break;
      uint64_t base = is_by_rbp ? at.fp : at.low.value;
      RuntimeAddr cfa{base + static_cast<uint64_t>(int64_t{place.cfa_offset})};
      visit_(frame_at(at, place), {.pc = at.pc, .cfa = cfa, .is_top = at.depth == 0});
      if (!at.grows_to(cfa)) {
        stop = StopReason::kNoProgress;
        break;
      }
      places_.trail().note(cfa.minus(8));
      Recovered return_pc = memory_.read(cfa.minus(8));
      if (!return_pc.ok()) {
        stop = reason_at(cfa, return_pc.problem());
        break;
      }
      if (place.rbp_slot != 0) take_saved_fp(place, cfa, at);
      at.pc = {return_pc.value()};
      at.low = cfa;
      at.is_exact = false;
      at.origin = FrameOrigin::kSniffed;
      at.sniffer = Sniffers::kCfi;
      ++at.depth;
    }
    at_ = at;
    return stop;
  }

  void take_saved_fp(const CodePlace& place, RuntimeAddr cfa, Cursor& at) const {
    RuntimeAddr slot = cfa.plus(static_cast<uint64_t>(int64_t{place.rbp_slot} * 8));
    if (at.is_exact && slot < at.low) return;  // popped already (step.h)
    Recovered saved = memory_.read(slot);
    at.knows_fp = saved.ok();
    at.fp = saved.ok() ? saved.value() : 0;
  }

  Stop step_carefully(const CodePlace& place) {
    bool is_mapped = place.leave != Leave::kUnmapped;
    // Nothing returns to where no code is: the word was no return address.
    if (!is_mapped && !at_.is_exact) return StopReason::kUnmapped;
    const Sniffers& sniffers = places_.sources().sniffers;
    for (SnifferId id : sniffers.order()) {
      if (id == Sniffers::kCfi) {
        if (place.leave == Leave::kRoot) return end_at(place, StopReason::kReachedRoot);
        if (const UnwindRule* rule = places_.rule_of(place)) return step_by_rule(place, *rule);
      } else if (places_.applies(id, place.module)) {
        if (auto info = ask(id, place)) return step_by_answer(place, id, *info);
      }
    }
    return end_at(place, is_mapped ? StopReason::kNoUnwindInfo : StopReason::kUnmapped);
  }

  Stop step_by_rule(const CodePlace& place, const UnwindRule& rule) {
    if (rule.is_root()) return end_at(place, StopReason::kReachedRoot);
    follow_all();
    Recovered cfa = cfa_of(rule, registers_, memory_);
    visit(place, {cfa.ok() ? cfa.value() : 0}, &rule);
    if (!cfa.ok()) return cfa.problem();
    // Only a signal frame may lead down: from an alternate stack.
    if (!at_.grows_to({cfa.value()}) && !(rule.is_signal_frame && ranges_.leave_for(at_.low, {cfa.value()})))
      return StopReason::kNoProgress;
    Registers caller;
    if (auto problem = recover_caller(rule, cfa.value(), registers_, memory_, at_.is_exact, caller))
      return reason_at({cfa.value()}, *problem);
    move_to(caller, {cfa.value()}, rule.is_signal_frame, Sniffers::kCfi);
    return std::nullopt;
  }

  std::optional<UnwindInfo> ask(SnifferId id, const CodePlace& place) {
    Registers followed = followed_registers();
    const ModuleTable& modules = places_.sources().modules;
    auto all = [this]() -> const Registers& {
      follow_all();
      return registers_;
    };
    PendingFrame frame({.pc = at_.pc,
                        .is_exact = at_.is_exact,
                        .is_top = at_.depth == 0,
                        .low = at_.low,
                        .module = place.module.is_none() ? nullptr : &modules.module(place.module),
                        .position = place.position},
                       followed, follows_all_, all, memory_, process_, modules);
    auto info = places_.sources().sniffers.entry(id).sniffer->unwind(frame);
    if (!info || info->stop) return info;
    auto refusal = refusal_of(*info);
    if (!refusal) return info;
    if (!is_again_) places_.count_refusal(id, *refusal);
    return std::nullopt;
  }

  // What makes a sniffer's answer useless. Its frame is then asked of the next one.
  std::optional<SnifferRefusal> refusal_of(const UnwindInfo& info) const {
    if (!info.caller.knows(Register::rip) || !info.caller.knows(Register::rsp))
      return SnifferRefusal::kLacksRegisters;
    RuntimeAddr sp{*info.caller.find(Register::rsp)};
    if (!at_.grows_to(info.id.cfa)) return SnifferRefusal::kNoProgress;
    if (!memory_.may_hold(info.id.cfa) || !memory_.may_hold(sp)) return SnifferRefusal::kOffTheStack;
    if (!at_.grows_to(sp)) return SnifferRefusal::kNoProgress;
    if (info.id.cfa.value % 8 != 0 || sp.value % 8 != 0) return SnifferRefusal::kUnaligned;
    if (info.caller_was_interrupted) return std::nullopt;
    if (sp != info.id.cfa) return SnifferRefusal::kNotTheCfa;
    RuntimeAddr return_pc{*info.caller.find(Register::rip)};
    if (process_.space.find(return_pc.minus(1)) == nullptr) return SnifferRefusal::kNoCode;
    return std::nullopt;
  }

  Stop step_by_answer(const CodePlace& place, SnifferId id, const UnwindInfo& info) {
    visit(place, info.id.cfa, nullptr);
    if (info.stop) return info.stop;
    move_to(info.caller, info.id.cfa, info.caller_was_interrupted, id);
    return std::nullopt;
  }

  Stop end_at(const CodePlace& place, StopReason reason) {
    visit(place, {}, nullptr);
    return reason;
  }

  void visit(const CodePlace& place, RuntimeAddr cfa, const UnwindRule* rule) {
    visit_(frame_at(at_, place), {.pc = at_.pc,
                                  .cfa = cfa,
                                  .is_top = at_.depth == 0,
                                  .registers = follows_all_ ? &registers_ : nullptr,
                                  .rule = rule});
  }

  void take(const Registers& caller, RuntimeAddr cfa, bool was_interrupted) {
    if (follows_all_) registers_ = caller;
    at_.pc = {*caller.find(Register::rip)};
    at_.low = {caller.find(Register::rsp).value_or(cfa.value)};
    auto fp = caller.find(Register::rbp);
    at_.knows_fp = fp.has_value();
    at_.fp = fp.value_or(0);
    at_.is_exact = was_interrupted;
  }

  void move_to(const Registers& caller, RuntimeAddr cfa, bool was_interrupted, SnifferId found_by) {
    RuntimeAddr low = at_.low;
    take(caller, cfa, was_interrupted);
    if (was_interrupted) is_off_the_copy_ = is_on_other_stack(low) && !memory_.read(at_.low).ok();
    at_.origin = FrameOrigin::kSniffed;
    at_.sniffer = found_by;
    ++at_.depth;
  }

  // Whether what was interrupted stood on another stack than its handler, whose frame lies at `low`. Between
  // the two the kernel puts its signal frame: 11 KB with all of AVX-512 and AMX.
  bool is_on_other_stack(RuntimeAddr low) const {
    constexpr uint64_t kMostSignalFrame = 64 * 1024;
    return at_.low < low || at_.low.distance_from(low) > kMostSignalFrame;
  }

  Registers followed_registers() const {
    if (follows_all_) return registers_;
    Registers followed;
    followed.set(Register::rip, at_.pc.value);
    followed.set(Register::rsp, at_.low.value);
    if (at_.knows_fp) followed.set(Register::rbp, at_.fp);
    return followed;
  }

  // From here on every register is followed; the frames so far are walked again for theirs.
  void follow_all() {
    if (follows_all_) return;
    auto nobody = [](Frame, const WalkedFrame&) {};
    Walk again(sample_, process_, places_, nobody, true, true);
    while (again.at_.depth < at_.depth && !again.step()) {
    }
    // A plug-in may answer differently when it is asked twice.
    bool is_same = again.at_.depth == at_.depth && again.at_.pc == at_.pc && again.at_.low == at_.low;
    registers_ = is_same ? again.registers_ : followed_registers();
    follows_all_ = true;
  }

  const Sample& sample_;
  const Process& process_;
  PlaceCache& places_;
  const FrameVisitor visit_;
  const StackMemory memory_;
  const uint64_t most_frames_;
  const bool is_again_;  // a second walk over the sample for the sake of the first
  Cursor at_;
  bool follows_all_;
  bool is_off_the_copy_ = false;  // on a stack that was not copied, behind a signal frame
  Registers registers_;           // at the cursor, if follows_all_
  WalkedRanges ranges_;
};

void elide_middle(uint32_t max_depth, UnwoundStack& stack) {
  stack.elided = elided_of(stack.frames.size(), max_depth);
  auto first = stack.frames.begin() + static_cast<ptrdiff_t>(stack.elided.at);
  stack.frames.erase(first, first + static_cast<ptrdiff_t>(stack.elided.count));
}

}  // namespace

StopReason walk(const Sample& sample, const Process& process, PlaceCache& places, FrameVisitor visit,
                Follow follow) {
  places.enter(process);
  const Registers& registers = sample.registers;
  bool has_registers = registers.knows(Register::rip) && registers.knows(Register::rsp);
  // Without a stack the registers alone still give the first frame, which is all there is of a process whose
  // memory goes away while it is in execve or exits.
  bool is_walkable = has_registers && (sample.stack_count > 0 || sample.user_chain.empty());
  if (!is_walkable) return walk_chain(sample, process, places, visit);
  return Walk(sample, process, places, visit, follow == Follow::kAllRegisters).run();
}

StopReason walk_with_kernel(const Sample& sample, const ProcessTable& processes, const Process& process,
                            PlaceCache& places, FrameVisitor visit, Follow follow) {
  auto kernel_chain = chain_of(sample.kernel_chain, sample.ip, sample.in_kernel);
  for (size_t i = 0; i < kernel_chain.size(); ++i) {
    RuntimeAddr lookup = i == 0 ? kernel_chain[i] : kernel_chain[i].minus(1);
    visit({.module = processes.kernel_module(lookup),
           .origin = i == 0 ? FrameOrigin::kTop : FrameOrigin::kRecordedChain,
           .in_kernel = true,
           .position = {lookup.value}},
          {.pc = kernel_chain[i]});
  }
  return walk(sample, process, places, visit, follow);
}

void unwind(const Sample& sample, const ProcessTable& processes, const Process& process, PlaceCache& places,
            uint32_t max_depth, UnwoundStack& stack) {
  stack.frames.clear();
  auto keep = [&stack](Frame frame, const WalkedFrame&) { stack.frames.push_back(frame); };
  stack.stop = walk_with_kernel(sample, processes, process, places, keep);
  elide_middle(max_depth, stack);
}

}  // namespace jitprof
