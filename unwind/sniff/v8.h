// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unwind/sniff/known_layouts.h"
#include "unwind/sniff/sniffer.h"

namespace jitprof {

// Leaves code that V8 generated, at run time or when it was built (builtins and bytecode handlers, which node
// carries in its file). It is known by the names that V8 publishes and by the symbols "Builtins_…".
//
// Nearly all of V8's frames have a frame pointer: [rbp] the caller's rbp, [rbp + 8] the return address, and
// the caller's sp is rbp + 16; what is pushed above are arguments, which the callee pops. Where code was
// interrupted its own instructions tell (frame_layout.h): before "push rbp; mov rbp,rsp", which optimised
// functions do after 14 bytes and the interpreter's entry after 110; in epilogues, which put the return
// address into a register while they pop the arguments; in handlers without a frame. Nothing but rip, rsp and
// rbp is the caller's after a call in such code; only the entry from C++ saves the registers that C++ wants
// back.
class V8Sniffer : public Sniffer {
 public:
  // `layouts` must outlive it.
  explicit V8Sniffer(KnownLayouts& layouts) : layouts_(layouts) {}
  std::optional<UnwindInfo> unwind(const PendingFrame& frame) const override;

 private:
  std::optional<FrameLayout> layout_of(const PendingFrame& frame,
                                       const FunctionStarts::Function& function) const;

  KnownLayouts& layouts_;
};

}  // namespace jitprof
