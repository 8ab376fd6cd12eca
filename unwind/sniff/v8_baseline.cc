// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/v8_baseline.h"

#include "unwind/sniff/frame_pointer.h"
#include "unwind/sniff/instruction.h"

namespace jitprof {
namespace {

using Kind = Instruction::Kind;

bool is_baseline_code(const Module* module) {
  return module != nullptr && module->jit != nullptr && !module->elf && module->jit->name.starts_with("JS:^");
}

// Where the first call of the code returns to; nullopt when it does not in its first bytes, or they are not
// known.
std::optional<uint64_t> end_of_first_call(const JitCode& code) {
  constexpr uint64_t kLongestStart = 128;
  Bytes bytes(code.bytes);
  for (uint64_t offset = 0; offset < bytes.size() && offset < kLongestStart;) {
    auto instruction = decode_instruction(bytes.subspan(offset));
    if (!instruction) return std::nullopt;
    offset += instruction->size;
    if (instruction->kind == Kind::kCall || instruction->kind == Kind::kCallFar) return offset;
  }
  return std::nullopt;
}

}  // namespace

std::optional<UnwindInfo> V8BaselineSniffer::unwind(const PendingFrame& frame) const {
  const PendingFrame::Place& place = frame.place();
  if (!is_baseline_code(place.module)) return std::nullopt;
  // Of a caller the position lies inside its call.
  auto frame_start = end_of_first_call(*place.module->jit);
  if (!frame_start || place.position.value < *frame_start) return std::nullopt;
  return leave_by_frame_pointer(frame);
}

}  // namespace jitprof
