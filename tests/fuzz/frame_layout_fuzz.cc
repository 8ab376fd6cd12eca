// SPDX-License-Identifier: Apache-2.0

// Any bytes as a function's code: must end within bounded time, without a crash, and say only what a frame
// can be. The first two bytes choose the place asked about.

#include <span>

#include "base/result.h"
#include "unwind/sniff/frame_layout.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jitprof;
  if (size < 3) return 0;
  Bytes code = std::as_bytes(std::span(data + 2, size - 2));
  uint64_t offset = (data[0] | data[1] << 8) % code.size();
  for (CallState state : {CallState::kAtInstruction, CallState::kInCall}) {
    auto layout = decode_frame(code, offset, state);
    if (!layout) continue;
    JP_CHECK(layout->base != Register::rip);
    JP_CHECK(layout->base != Register::rsp || layout->cfa_offset >= 8 || layout->return_register);
    for (const FrameLayout::Saved& saved : layout->saved)
      JP_CHECK(saved.kind != FrameLayout::Saved::Kind::kAtCfaOffset || saved.offset <= -16);
  }
  return 0;
}
