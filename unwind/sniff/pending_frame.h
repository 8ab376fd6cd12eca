// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_reader.h"
#include "base/function_ref.h"
#include "base/position.h"
#include "base/registers.h"
#include "base/result.h"
#include "unwind/space/module_table.h"
#include "unwind/space/process_table.h"
#include "unwind/stack_memory.h"

namespace jitprof {

// A frame that a sniffer is asked about: its registers, the recorded stack bytes, and what is known of its
// code. Lives during the question.
class PendingFrame {
 public:
  struct Place {
    RuntimeAddr pc;
    bool is_exact = true;            // of a leaf or an interrupted frame; else a return address
    bool is_top = true;              // the first frame of the user stack
    RuntimeAddr low;                 // the CFA of the frame it called, its own rsp if none
    const Module* module = nullptr;  // nullptr: pc lies in no mapping
    ElfAddr position;                // in the module; of a caller, inside its call
  };
  // Where registers come from that the walk does not follow by default. Called at most once per question.
  using RegisterSource = FunctionRef<const Registers&()>;

  PendingFrame(const Place& place, const Registers& followed, bool follows_all, RegisterSource all,
               const StackMemory& memory, const Process& process, const ModuleTable& modules)
      : place_(place),
        followed_(followed),
        follows_all_(follows_all),
        all_(all),
        memory_(memory),
        process_(process),
        modules_(modules) {}

  const Place& place() const { return place_; }
  RuntimeAddr pc() const { return place_.pc; }

  // nullopt: the register could not be recovered. The walk follows rip, rsp and rbp; for any other one it
  // goes over the sample a second time.
  std::optional<uint64_t> find(Register number) const;
  // Whether to find it costs nothing: a caller's registers that the walk does not follow it asks for again
  // when something needs them.
  bool follows(Register number) const {
    return follows_all_ || number == Register::rip || number == Register::rsp || number == Register::rbp;
  }
  // The callee-saved registers as this frame has them, as far as the walk follows them.
  Registers callee_saved() const;
  // The error is that of a name the architecture does not have.
  Result<std::optional<uint64_t>> find(std::string_view name) const;

  // From the recorded stack only.
  Recovered read(RuntimeAddr position, unsigned size = 8) const { return memory_.read(position, size); }

  const Process& process() const { return process_; }
  // Code bytes from `position` on, as far as they are known; empty outside files.
  Bytes code_at(RuntimeAddr position) const;
  // Whether a call may return there: it lies in a code mapping and, where the bytes before it are known,
  // follows a call instruction or is where signal handlers return to.
  bool can_be_return_address(RuntimeAddr position) const;
  // Whether the bytes before it are known, and are a call instruction.
  bool is_behind_call(RuntimeAddr position) const;

 private:
  // nullopt: no code is mapped there; else what follows_call() says.
  std::optional<std::optional<bool>> call_before(RuntimeAddr position) const;
  Place place_;
  const Registers& followed_;
  bool follows_all_;
  RegisterSource all_;
  const StackMemory& memory_;
  const Process& process_;
  const ModuleTable& modules_;
};

// Whether the code before `position` in the module ends in a call; nullopt where its bytes are unknown.
std::optional<bool> follows_call(const Module& module, ElfAddr position);

}  // namespace jitprof
