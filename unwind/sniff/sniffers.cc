// SPDX-License-Identifier: Apache-2.0
#include "unwind/sniff/sniffers.h"

#include <algorithm>
#include <array>

#include "unwind/sniff/fixed_frame.h"
#include "unwind/sniff/frame_pointer.h"
#include "unwind/sniff/prologue_sniffer.h"
#include "unwind/sniff/v8.h"

namespace jitprof {
namespace {

// Frame::sniffer holds an id in a byte.
constexpr size_t kMaxSniffers = 255;

}  // namespace

const char* name_of(Locus locus) {
  static constexpr std::array<const char*, 3> kNames = {"object-file", "program-space", "global"};
  return kNames[static_cast<unsigned>(locus)];
}

const char* text_of(SnifferRefusal refusal) {
  static constexpr std::array<const char*, 6> kTexts = {
      "without the caller's rip and rsp, or with values that mean nothing",
      "with a CFA or rsp that does not grow",
      "with a CFA or rsp outside the stack",
      "with a CFA or rsp that is no multiple of 8",
      "with an rsp that is not the CFA",
      "with a return address in no mapping"};
  return kTexts[static_cast<unsigned>(refusal)];
}

Sniffers::Sniffers() : layouts_(std::make_unique<KnownLayouts>()) {
  JP_CHECK(add({.name = "cfi", .locus = Locus::kObjectFile}).ok());
  JP_CHECK(add({.name = "frame-pointer",
                .locus = Locus::kGlobal,
                .sniffer = std::make_unique<FramePointerSniffer>(*layouts_)})
               .ok());
  JP_CHECK(add({.name = "prologue",
                .locus = Locus::kGlobal,
                .sniffer = std::make_unique<PrologueSniffer>(*layouts_)})
               .ok());
  JP_CHECK(add({.name = "fixed-frame",
                .locus = Locus::kProgramSpace,
                .sniffer = std::make_unique<FixedFrameSniffer>()})
               .ok());
  JP_CHECK(
      add({.name = "v8", .locus = Locus::kProgramSpace, .sniffer = std::make_unique<V8Sniffer>(*layouts_)})
          .ok());
}

Status Sniffers::add(Entry entry, bool replace) {
  if (!entries_.empty() && entry.name == entries_[kCfi.index].name)
    return Error{"the name 'cfi' is that of the unwind tables of ELF files: give the sniffer another one"};
  for (Entry& known : entries_) {
    if (known.name != entry.name || known.locus != entry.locus) continue;
    if (!replace) {
      return Error{"there is already a sniffer '" + entry.name + "' for its locus, " + name_of(entry.locus) +
                   ": give it another name"};
    }
    known = std::move(entry);
    return Nothing{};
  }
  if (entries_.size() == kMaxSniffers) return Error{"more than 255 sniffers"};
  SnifferId id{static_cast<uint32_t>(entries_.size())};
  auto later = [&](SnifferId other) { return entries_[other.index].locus >= entry.locus; };
  order_.insert(std::find_if(order_.begin(), order_.end(), later), id);
  entries_.push_back(std::move(entry));
  return Nothing{};
}

Status Sniffers::set_enabled(std::string_view name, bool is_enabled) {
  bool found = false;
  for (Entry& entry : entries_) {
    if (entry.name != name) continue;
    entry.is_enabled = is_enabled;
    found = true;
  }
  if (found) return Nothing{};
  return Error{"there is no sniffer '" + std::string(name) + "': 'jitprof info --sniffers' lists them"};
}

bool Sniffers::has_own_sniffer(const Module& module) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.locus == Locus::kObjectFile && entry.sniffer != nullptr && entry.is_enabled &&
           entry.belongs_to(module);
  });
}

}  // namespace jitprof
