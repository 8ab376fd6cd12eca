// SPDX-License-Identifier: Apache-2.0
#include "published.h"

namespace toy {

Published::Published(const Method& method) : method_(method) {
  FrameState before;
  for (const Instruction& instruction : method.instructions()) {
    if (rows_.empty() || instruction.frame != before) {
      uint32_t base = instruction.frame.by_rbp ? JITPROF_BASE_RBP : JITPROF_BASE_RSP;
      rows_.push_back({instruction.offset, base, instruction.frame.cfa_offset, instruction.frame.rbp_offset});
      before = instruction.frame;
    }
    const Level& innermost = instruction.chain.front();
    lines_.push_back({instruction.offset, innermost.line, 0, innermost.file.c_str()});
  }
  jitprof_inline_start(&inlines_);
  for (const LineEvent& event : method.line_events()) {
    if (event.kind == LineEvent::Kind::kLine) {
      jitprof_inline_line(&inlines_, event.offset, event.line);
    } else if (event.kind == LineEvent::Kind::kBegin) {
      jitprof_inline_begin(&inlines_, event.offset, event.callee.c_str(), event.file.c_str(), event.call_line,
                           event.line);
    } else {
      jitprof_inline_end(&inlines_, event.offset);
    }
  }
  jitprof_inline_finish(&inlines_, method.bytes().size());
}

jitprof_jit_code Published::code(uint64_t start) const {
  jitprof_jit_code code{};
  code.name = method_.name().c_str();
  code.start = start;
  code.size = method_.bytes().size();
  code.bytes = method_.bytes().data();
  code.file = method_.file().c_str();
  code.lines = lines_.data();
  code.line_count = lines_.size();
  code.frame_rows = rows_.data();
  code.frame_row_count = rows_.size();
  code.inlines = &inlines_;
  return code;
}

}  // namespace toy
