// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/fixed_frame.h"

#include <array>
#include <string_view>

#include "unwind/sniff/caller_above.h"

namespace jitprof {
namespace {

// From `offset` on the CFA is rsp + cfa_offset; callee-saved registers are the caller's all through.
struct Row {
  uint32_t offset = 0;
  uint32_t cfa_offset = 0;
};

struct FixedFrame {
  std::string_view name_begins;
  uint64_t code_size = 0;
  std::array<Row, 3> rows;  // by offset
};

constexpr std::array<FixedFrame, 1> kFrames = {{
    // CPython 3.12, -X perf: one trampoline per function, sub $8,%rsp; call *%rcx; add $8,%rsp; ret.
    {"py::", 11, {{{0, 8}, {4, 16}, {10, 8}}}},
}};

const FixedFrame* frame_of(const JitCode& code) {
  for (const FixedFrame& frame : kFrames) {
    if (code.size == frame.code_size && code.name.starts_with(frame.name_begins)) return &frame;
  }
  return nullptr;
}

}  // namespace

std::optional<UnwindInfo> FixedFrameSniffer::unwind(const PendingFrame& frame) const {
  const Module* module = frame.place().module;
  const FixedFrame* known = module != nullptr && module->jit != nullptr ? frame_of(*module->jit) : nullptr;
  auto sp = frame.find(Register::rsp);
  if (known == nullptr || !sp) return std::nullopt;
  uint32_t cfa_offset = 0;
  for (const Row& row : known->rows) {
    if (frame.place().position.value >= row.offset) cfa_offset = row.cfa_offset;
  }
  RuntimeAddr cfa{*sp + cfa_offset};
  return caller_above(cfa, frame.read(cfa.minus(8)), frame.callee_saved());
}

}  // namespace jitprof
