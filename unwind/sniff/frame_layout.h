// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/registers.h"

namespace jitprof {

// How the frame of a function looks at one of its instructions.
struct FrameLayout {
  struct Saved {
    enum class Kind : uint8_t { kKept, kAtCfaOffset, kLost };
    Kind kind = Kind::kKept;  // still, or again, in its register
    int32_t offset = 0;
  };
  // CFA = base + cfa_offset; the return address is at CFA - 8. Without one no register points into the frame.
  std::optional<Register> base = Register::rsp;
  int32_t cfa_offset = 8;
  // The return address was popped into this one. The CFA is rsp then.
  std::optional<Register> return_register;
  // Of callee-saved registers where the caller's value is.
  std::array<Saved, kRegisterCount> saved;

  const Saved& of(Register number) const { return saved[static_cast<unsigned>(number)]; }
};

// Reads the layout from a function's code: follows what its instructions from the first on do to rsp, to
// registers that point into the frame and to callee-saved registers, up to the one at `offset`. (Of a caller
// that is the call, and what registers may be lost in a call is no base.) Jumps forward carry their state to
// where they lead; code that only an indirect or backward jump can reach takes the state of the code before
// it, and behind an epilogue the one that held before that began, as compilers' CFI does; behind the end of a
// path that never made the function's frame nobody knows.
//
// nullopt: `offset` is not the first byte of an instruction, or nobody knows how its code is reached. Where
// rsp came from memory or by a computed amount and no other register points into the frame, there is a layout
// without a base.
//
// `begins` is what the first instruction finds.
//
// Costs some 200 ns for each instruction before `offset`, of which only the last 64 KiB are looked at: code
// farther into its function is declined. Allocates nothing.
enum class CallState : uint8_t { kAtInstruction, kInCall };
enum class Begins : uint8_t {
  kCalled,  // the return address at rsp
  kFramed,  // a frame pointer: the caller's rbp at rbp, the return address behind it
};
std::optional<FrameLayout> decode_frame(Bytes code, uint64_t offset, CallState state,
                                        Begins begins = Begins::kCalled);

}  // namespace jitprof
