// SPDX-License-Identifier: Apache-2.0
// Linux Standard Base Core 5.0, 10.6.2: .eh_frame_hdr.
#include "unwind/cfi/frame_section.h"

#include <elf.h>

#include <algorithm>

#include "unwind/cfi/encoded_pointer.h"

namespace jitprof {
namespace {

// One is usual; x86-64 objects of the large code model may have several. Headers that name the same bytes
// again and again must not multiply the work.
constexpr size_t kMaxEhFrames = 8;

std::optional<ElfAddr> start_of(const ElfFile& elf, std::string_view name) {
  // With or without bytes: PHP's JIT registers a .text that is only a place.
  auto found = std::ranges::find(elf.sections(), name, &ElfSection::name);
  return found == elf.sections().end() ? std::nullopt : std::optional(found->start);
}

// The global offset table, where the x86-64 psABI has its GOT pointer.
std::optional<ElfAddr> got_of(const ElfFile& elf) {
  auto plt = start_of(elf, ".got.plt");
  return plt ? plt : start_of(elf, ".got");
}

}  // namespace

ElfFrameSections::ElfFrameSections(const ElfFile& elf) {
  add_eh_frames(elf);
  if (sections_.empty()) add_eh_frame_of_header(elf);
  add_debug_frame(elf);
}

void ElfFrameSections::add_eh_frames(const ElfFile& elf) {
  for (const ElfSection& section : elf.sections()) {
    if (section.name != ".eh_frame" || section.type == SHT_NOBITS) continue;
    if (sections_.size() == kMaxEhFrames) break;
    sections_.push_back({.bytes = elf.raw(section),
                         .start = section.start,
                         .text_base = start_of(elf, ".text"),
                         .data_base = got_of(elf)});
  }
}

void ElfFrameSections::add_eh_frame_of_header(const ElfFile& elf) {
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type != PT_GNU_EH_FRAME) continue;
    // Data-relative pointers of this header are relative to the header itself.
    FrameSection header{
        .bytes = elf.bytes_from(segment.start), .start = segment.start, .data_base = segment.start};
    ByteReader reader(header.bytes);
    uint8_t version = reader.u8();
    uint8_t encoding = reader.u8();
    reader.skip(2);  // encodings of the table
    auto eh_frame = read_encoded_pointer(reader, encoding, header);
    if (version != 1 || !eh_frame) return;
    sections_.push_back({.bytes = elf.bytes_from({*eh_frame}), .start = {*eh_frame}, .ends_at_zero = true});
    return;
  }
}

void ElfFrameSections::add_debug_frame(const ElfFile& elf) {
  const ElfSection* section = elf.find_section(".debug_frame");
  if (section == nullptr) section = elf.find_section(".zdebug_frame");
  if (section == nullptr) return;
  auto contents = elf.contents(*section);
  if (!contents.ok()) return;
  contents_.push_back(std::move(contents.value()));
  sections_.push_back({.bytes = contents_.back().bytes(), .is_debug_frame = true});
}

}  // namespace jitprof
