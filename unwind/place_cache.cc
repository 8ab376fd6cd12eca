// SPDX-License-Identifier: Apache-2.0
#include "unwind/place_cache.h"

#include <algorithm>

#include "unwind/quick_rule.h"
#include "unwind/sniff/pending_frame.h"

namespace jitprof {
namespace {

// Whether code without CFI is where the kernel starts a program: nothing called that. ld.so's _start and what
// follows it have no CFI (glibc 2.36: 80 bytes); an executable's own _start marks its root in CFI.
bool is_entry_code(const Module& module, ElfAddr position) {
  constexpr uint64_t kMaxEntryCode = 128;
  if (!module.elf || module.elf->entry() == ElfAddr{0} || position < module.elf->entry()) return false;
  return position.distance_from(module.elf->entry()) < kMaxEntryCode;
}

// Before a function has pushed anything.
bool is_first_row(const UnwindRule& rule) {
  return rule.cfa == UnwindRule::Cfa::kRegisterOffset && rule.cfa_register == Register::rsp &&
         rule.cfa_offset == 8 && rule.register_count == 1;
}

}  // namespace

PlaceCache::PlaceCache(const UnwindSources& sources)
    : sources_(sources), pairs_(std::make_unique<Pair[]>(size_t{1} << kBits)) {}

void PlaceCache::enter(const Process& process) {
  if (process_ == &process && changes_ == process.space.changes()) return;
  process_ = &process;
  changes_ = process.space.changes();
  auto next = static_cast<uint32_t>(spaces_.size());
  space_ = spaces_.try_emplace({process.id, changes_}, next).first->second;

  const Sniffers& sniffers = sources_.sniffers;
  is_of_process_.assign(sniffers.order().size(), false);
  for (SnifferId id : sniffers.order()) {
    const Sniffers::Entry& entry = sniffers.entry(id);
    auto is_owner = [&](const auto& mapping) {
      return entry.belongs_to(sources_.modules.module(mapping.second.module));
    };
    const auto& mappings = process.space.mappings();
    is_of_process_[id.index] = entry.locus != Locus::kProgramSpace || entry.object.empty() ||
                               std::any_of(mappings.begin(), mappings.end(), is_owner);
  }
}

bool PlaceCache::applies(SnifferId sniffer, ModuleId module) const {
  const Sniffers::Entry& entry = sources_.sniffers.entry(sniffer);
  if (!entry.is_enabled || !is_of_process_[sniffer.index]) return false;
  if (entry.locus != Locus::kObjectFile) return true;
  return !module.is_none() && entry.belongs_to(sources_.modules.module(module));
}

const UnwindRule* PlaceCache::rule_of(const CodePlace& place) const {
  if (place.module.is_none() || !sources_.sniffers.cfi_is_enabled()) return nullptr;
  return sources_.tables.of(sources_.modules.module(place.module)).find(place.position);
}

const CodePlace& PlaceCache::find_second(Pair& pair, uint64_t key) {
  std::swap(pair.newer, pair.older);
  if (pair.newer.key == key && pair.newer.space == space_) return pair.newer;
  pair.newer = CodePlace{.key = key, .space = space_};
  describe(pair.newer, {key >> 1}, key & 1);
  return pair.newer;
}

void PlaceCache::describe(CodePlace& place, RuntimeAddr pc, bool is_exact) const {
  // A return address may be the first byte of another function (a call that does not return ends its own), so
  // a caller is looked up inside its call.
  RuntimeAddr lookup = is_exact ? pc : pc.minus(1);
  place.position = {lookup.value};
  const Mapping* mapping = process_->space.find(lookup);
  if (mapping == nullptr) return;
  const Module& module = sources_.modules.module(mapping->module);
  place.module = mapping->module;
  place.position = mapping->bias.to_elf(lookup);
  place.leave = Leave::kUnknown;
  if (!is_exact) {
    // A call at the end of the mapping returns to what lies behind it.
    place.follows_no_call = !follows_call(module, mapping->bias.to_elf(pc)).value_or(true);
  }
  const UnwindRule* rule = rule_of(place);
  if (rule == nullptr && place.follows_no_call) {
    // A stack that a program made itself begins with a return to a function's first instruction:
    // makecontext's to __start_context.
    CodePlace begun = place;
    begun.position = place.position.plus(1);
    const UnwindRule* first = rule_of(begun);
    if (first != nullptr && is_first_row(*first)) {
      place.position = begun.position;
      rule = first;
    }
  }
  if (rule != nullptr) {
    // Nothing called the trampoline that a signal handler returns to: the kernel set up a return to its first
    // instruction. (Its CFI begins a byte early to be found by pc - 1 all the same.)
    if (rule->is_signal_frame && !is_exact) {
      place.position = place.position.plus(1);
      place.follows_no_call = false;
    }
    simplify(*rule, pc, place);
  } else if (is_entry_code(module, place.position)) {
    place.leave = Leave::kRoot;
  }
  if (sources_.sniffers.has_own_sniffer(module)) place.leave = Leave::kAskFirst;
}

}  // namespace jitprof
