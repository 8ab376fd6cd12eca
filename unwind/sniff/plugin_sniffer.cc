// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/plugin_sniffer.h"

#include <algorithm>
#include <cstring>

namespace jitprof {
namespace {

static_assert(JITPROF_REGISTER_COUNT == kRegisterCount);
static_assert(JITPROF_R14 == static_cast<unsigned>(Register::r14));
static_assert(JITPROF_RIP == static_cast<unsigned>(Register::rip));

// One question as the plug-in sees it: the frame, and the calls it may make while it thinks.
class Question {
 public:
  explicit Question(const PendingFrame& frame) : pending_(frame), place_(frame.place()) {}
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  jitprof_frame frame() {
    return {.struct_size = sizeof(jitprof_frame),
            .is_exact = place_.is_exact,
            .is_top = place_.is_top,
            .pc = place_.pc.value,
            .callee_cfa = place_.low.value,
            .calls = &kCalls,
            .context = this};
  }

 private:
  static Question& of(const jitprof_frame* frame) { return *static_cast<Question*>(frame->context); }

  static jitprof_result give(std::optional<uint64_t> found, uint64_t* value) {
    if (!found) return JITPROF_UNAVAILABLE;
    *value = *found;
    return JITPROF_OK;
  }

  static jitprof_result read_register(const jitprof_frame* frame, uint32_t number, uint64_t* value) {
    if (number >= kRegisterCount) return JITPROF_NO_SUCH_REGISTER;
    return give(of(frame).pending_.find(static_cast<Register>(number)), value);
  }

  static jitprof_result read_named_register(const jitprof_frame* frame, const char* name, uint64_t* value) {
    auto found = of(frame).pending_.find(std::string_view(name));
    return found.ok() ? give(found.value(), value) : JITPROF_NO_SUCH_REGISTER;
  }

  static jitprof_result read_stack(const jitprof_frame* frame, uint64_t position, void* to, uint64_t size) {
    const PendingFrame& pending = of(frame).pending_;
    auto word_size = [&](uint64_t at) { return size - at >= sizeof(uint64_t) ? 8u : 1u; };
    // Once to see that all of it is there: no more than a stack is read, whatever the size.
    for (uint64_t at = 0; at < size; at += word_size(at)) {
      Recovered word = pending.read({position + at}, word_size(at));
      if (!word.ok())
        return word.problem() == StopReason::kTruncated ? JITPROF_BEHIND_CUT : JITPROF_UNREADABLE;
    }
    for (uint64_t at = 0; at < size; at += word_size(at)) {
      uint64_t word = pending.read({position + at}, word_size(at)).value();
      std::memcpy(static_cast<std::byte*>(to) + at, &word, word_size(at));
    }
    return JITPROF_OK;
  }

  static uint64_t read_code(const jitprof_frame* frame, uint64_t position, void* to, uint64_t size) {
    Bytes code = of(frame).pending_.code_at({position});
    uint64_t taken = std::min<uint64_t>(size, code.size());
    if (taken > 0) std::memcpy(to, code.data(), taken);
    return taken;
  }

  static jitprof_code_kind kind_of(const Module& module) {
    switch (module.kind) {
      case Module::Kind::kFile:
        return JITPROF_CODE_FILE;
      case Module::Kind::kVdso:
        return JITPROF_CODE_VDSO;
      case Module::Kind::kAnonymous:
        return JITPROF_CODE_ANONYMOUS;
      case Module::Kind::kJit:
        return JITPROF_CODE_JIT;
      case Module::Kind::kKernel:
      case Module::Kind::kKernelModule:
        break;
    }
    return JITPROF_CODE_OTHER;
  }

  static const jitprof_code* describe_code(const jitprof_frame* frame) {
    Question& question = of(frame);
    const PendingFrame::Place& place = question.place_;
    const Mapping* mapping =
        question.pending_.process().space.find(place.is_exact ? place.pc : place.pc.minus(1));
    if (mapping == nullptr || place.module == nullptr) return nullptr;
    Bytes build_id = place.module->build_id.bytes();
    question.code_ = {
        .struct_size = sizeof(jitprof_code),
        .kind = kind_of(*place.module),
        .path = place.module->path.c_str(),
        .build_id = build_id.empty() ? nullptr : reinterpret_cast<const uint8_t*>(build_id.data()),
        .build_id_size = build_id.size(),
        .position = place.position.value,
        .mapping_start = mapping->start.value,
        .mapping_end = mapping->end.value};
    return &question.code_;
  }

  static constexpr jitprof_calls kCalls = {.struct_size = sizeof(jitprof_calls),
                                           .read_register = read_register,
                                           .read_named_register = read_named_register,
                                           .read_stack = read_stack,
                                           .read_code = read_code,
                                           .describe_code = describe_code};

  const PendingFrame& pending_;
  const PendingFrame::Place& place_;
  jitprof_code code_{};
};

bool has_meaning(const jitprof_answer& answer) {
  constexpr uint32_t kRegisterBits = (1u << kRegisterCount) - 1;
  return (answer.known_registers & ~kRegisterBits) == 0 && answer.caller_was_interrupted <= 1 &&
         answer.stop <= JITPROF_STOP_TRUNCATED;
}

UnwindInfo info_of(const jitprof_answer& answer) {
  UnwindInfo info;
  if (!has_meaning(answer)) return info;
  info.id.cfa = {answer.cfa};
  if (answer.code != 0) info.id.code = RuntimeAddr{answer.code};
  for (unsigned number = 0; number < kRegisterCount; ++number) {
    bool is_known = (answer.known_registers >> number) & 1;
    if (is_known) info.caller.set(static_cast<Register>(number), answer.registers[number]);
  }
  info.caller_was_interrupted = answer.caller_was_interrupted != 0;
  if (answer.stop == JITPROF_STOP_ROOT) info.stop = StopReason::kReachedRoot;
  if (answer.stop == JITPROF_STOP_TRUNCATED) info.stop = StopReason::kTruncated;
  return info;
}

}  // namespace

std::optional<UnwindInfo> PluginSniffer::unwind(const PendingFrame& frame) const {
  Question question(frame);
  jitprof_frame asked = question.frame();
  jitprof_answer answer{};
  answer.struct_size = sizeof answer;
  uint32_t verdict = plugin_.unwind(plugin_.state, &asked, &answer);
  if (verdict == JITPROF_DECLINED) return std::nullopt;
  return verdict == JITPROF_ANSWERED ? info_of(answer) : UnwindInfo{};
}

}  // namespace jitprof
