// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "unwind/sniff/known_layouts.h"
#include "unwind/sniff/sniffer.h"
#include "unwind/unwound_stack.h"

namespace jitprof {

// What a sniffer belongs to; asked in this order.
enum class Locus : uint8_t { kObjectFile, kProgramSpace, kGlobal };
// "object-file", "program-space", "global".
const char* name_of(Locus locus);

// Why a sniffer's answer was not taken.
enum class SnifferRefusal : uint8_t {
  kLacksRegisters,  // no rip or no rsp of the caller
  kNoProgress,      // the CFA is not above that of the frame called
  kOffTheStack,     // the CFA or the caller's rsp lies outside the stack
  kUnaligned,       // the CFA or the caller's rsp is no multiple of 8
  kNotTheCfa,       // the caller's rsp is not the CFA, though nothing interrupted it
  kNoCode,          // its return address lies in no mapping
};
// "gave no rip and rsp", …
const char* text_of(SnifferRefusal refusal);

// The sniffers of a report. Holds some from the start: "cfi" (object file: the unwind tables of every ELF
// file and of code made at run time), "fixed-frame" and "v8" (program space), "frame-pointer" and, asked
// before it, "prologue" (global). Filled before the first walk, then shared by all threads unchanged.
class Sniffers {
 public:
  struct Entry {
    std::string name;
    Locus locus = Locus::kGlobal;
    // The file name that an object-file sniffer's module has, or that one of the modules of a program-space
    // sniffer's process has; empty: any.
    std::string object;
    std::unique_ptr<const Sniffer> sniffer;  // nullptr: "cfi", whose tables the walk applies itself
    bool is_enabled = true;

    bool belongs_to(const Module& module) const { return object.empty() || object == module.name(); }
  };

  Sniffers();

  // Refuses a name that its locus has already, unless it is to be replaced.
  Status add(Entry entry, bool replace = false);
  // Every sniffer of that name, in any locus. The error is that there is none.
  Status set_enabled(std::string_view name, bool is_enabled);

  const Entry& entry(SnifferId id) const { return entries_[id.index]; }
  // In the order in which they are asked: by locus, and within one the newest first.
  const std::vector<SnifferId>& order() const { return order_; }
  bool cfi_is_enabled() const { return entries_[kCfi.index].is_enabled; }
  // An enabled sniffer that is asked about code of this module before its CFI is.
  bool has_own_sniffer(const Module& module) const;

  static constexpr SnifferId kCfi{0};
  static constexpr SnifferId kFramePointer{1};
  static constexpr SnifferId kPrologue{2};

 private:
  std::unique_ptr<KnownLayouts> layouts_;  // what some of them share
  std::vector<Entry> entries_;             // by id
  std::vector<SnifferId> order_;
};

}  // namespace jitprof
