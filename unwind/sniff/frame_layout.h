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
  Register base = Register::rsp;  // CFA = base + cfa_offset; the return address is at CFA - 8
  int32_t cfa_offset = 8;
  // The return address was popped into this one. The CFA is rsp then.
  std::optional<Register> return_register;
  // Nothing before in the code, nor a jump behind it, leads there: a landing pad, a case of a switch, another
  // function.
  bool is_guess = false;
  // Of callee-saved registers where the caller's value is.
  std::array<Saved, kRegisterCount> saved;

  const Saved& of(Register number) const { return saved[static_cast<unsigned>(number)]; }
};

// What a frame is doing: the next thing, or a call.
enum class CallState : uint8_t {
  kAtInstruction,
  kInCall,  // `offset` is the call's last byte
};

// Reads the layout from a function's code: follows what its instructions from the first on do to rsp, to
// registers that point into the frame and to callee-saved registers, up to the one at `offset`. (Of a caller
// that is the call, and what registers may be lost in a call is no base.) Jumps forward carry their state to
// where they lead; code that nothing before it leads to takes the state of a jump back to it, or else of the
// code before it, and behind an epilogue the one that held before that began, as compilers' CFI does.
//
// nullopt: `offset` is not the first byte of an instruction, or the code did what cannot be followed: rsp
// from memory or by a computed amount while no other register points into the frame.
//
// Costs some 100 ns for each instruction before `offset`, and for all of the function's where a jump back is
// looked for. Only its first 64 KiB are read; what is farther is declined. Allocates nothing.
//
// `begins` says what the first instruction finds.
enum class Begins : uint8_t {
  kCalled,  // the return address at rsp
  kFramed,  // a frame pointer: the caller's rbp at rbp, the return address behind it
};
std::optional<FrameLayout> decode_frame(Bytes code, uint64_t offset, CallState state,
                                        Begins begins = Begins::kCalled);

}  // namespace jitprof
