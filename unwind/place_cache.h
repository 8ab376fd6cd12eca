// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/position.h"
#include "unwind/cfi/table_cache.h"
#include "unwind/sniff/sniffers.h"
#include "unwind/space/module_table.h"
#include "unwind/space/process_table.h"
#include "unwind/stack_trail.h"

namespace jitprof {

// What every walk of a report shares; all of it stands still while samples are unwound.
struct UnwindSources {
  const ModuleTable& modules;
  const UnwindTables& tables;
  const Sniffers& sniffers;
};

// How a frame at a pc is left, as far as the pc alone can say.
enum class Leave : uint8_t {
  kUnmapped,  // the pc lies in no mapping
  kUnknown,   // no CFI: the sniffers of the process and the global ones may know
  kAskFirst,  // a sniffer of this very object is asked before its CFI
  kRoot,      // CFI, or the file's entry point, marks the thread's first frame
  kByRsp,     // CFA = rsp + cfa_offset, return address at CFA - 8, rbp the same or at CFA + 8 * rbp_slot
  kByRbp,     // the same with CFA = rbp + cfa_offset
  kByRule,    // any other rule
};

// What is known of one pc of one process.
struct CodePlace {
  uint64_t key = UINT64_MAX;
  uint32_t space = 0;
  ModuleId module;
  ElfAddr position;  // inside the call for return addresses; the RuntimeAddr where there is no module
  int32_t cfa_offset = 0;
  int8_t rbp_slot = 0;  // 0: rbp is the same in the caller
  Leave leave = Leave::kUnmapped;
  bool follows_no_call = false;  // of return addresses
};
static_assert(sizeof(CodePlace) == 32);

// Memory of the places met last, in front of mappings and CFI tables: two for each hash, the newer first. One
// per thread and recording. What two threads write at every frame shares no cache line, nor the two that are
// fetched together: the second job was lost by that.
class alignas(128) PlaceCache {
 public:
  explicit PlaceCache(const UnwindSources& sources);

  const UnwindSources& sources() const { return sources_; }

  // Before the places of a process are asked for.
  void enter(const Process& process);
  // `is_exact`: of a leaf or an interrupted frame; else pc is a return address. The reference is good until
  // the next call.
  const CodePlace& find(RuntimeAddr pc, bool is_exact) {
    uint64_t key = pc.value << 1 | is_exact;
    Pair& pair = pairs_[key * 0x9e3779b97f4a7c15 >> (64 - kBits)];
    if (pair.newer.key == key && pair.newer.space == space_) [[likely]]
      return pair.newer;
    return find_second(pair, key);
  }
  // The CFI rule behind a place; nullptr when there is none.
  const UnwindRule* rule_of(const CodePlace& place) const;
  // Whether an enabled sniffer is to be asked about this module's code in the process entered.
  bool applies(SnifferId sniffer, ModuleId module) const;

  StackTrail& trail() { return trail_; }

  // How many answers of each sniffer were refused, by reason.
  using Refusals = std::map<std::pair<SnifferId, SnifferRefusal>, uint64_t>;
  void count_refusal(SnifferId sniffer, SnifferRefusal refusal) { ++refusals_[{sniffer, refusal}]; }
  const Refusals& refusals() const { return refusals_; }

 private:
  // A cache line.
  struct alignas(64) Pair {
    CodePlace newer;
    CodePlace older;
  };
  static constexpr unsigned kBits = 14;
  const CodePlace& find_second(Pair& pair, uint64_t key);
  void describe(CodePlace& place, RuntimeAddr pc, bool is_exact) const;

  UnwindSources sources_;
  std::unique_ptr<Pair[]> pairs_;
  const Process* process_ = nullptr;
  uint32_t changes_ = 0;  // of the process' address space, when it was entered
  uint32_t space_ = 0;    // stands for (process, changes)
  std::map<std::pair<ProcessId, uint32_t>, uint32_t> spaces_;
  // By sniffer: whether the process entered has what a program-space sniffer belongs to.
  std::vector<bool> is_of_process_;
  Refusals refusals_;
  StackTrail trail_;
};

}  // namespace jitprof
