// SPDX-License-Identifier: Apache-2.0
// DWARF 5, 6.4.1 (and versions 1, 3 and 4 as DWARF 2 to 4 have them); LSB Core 5.0, 10.6.1: .eh_frame.
#include "unwind/cfi/cfi_entries.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/leb128.h"
#include "unwind/cfi/encoded_pointer.h"

namespace jitprof {
namespace {

// The largest libraries have a few hundred after the linker merged equal ones; one per object file is
// thinkable.
constexpr size_t kMaxCies = 1 << 16;
// The column of the return address: psABI, figure 3.36.
constexpr uint64_t kReturnColumn = 16;
constexpr uint32_t kLongLength = 0xffffffff;

// An entry's bytes behind its id, in section offsets, and the offset of its CIE; nullopt: it is one itself.
struct RawEntry {
  uint64_t offset = 0;
  CfiRange body;
  std::optional<uint64_t> cie;
};

// Steps from entry to entry.
class EntryWalk {
 public:
  explicit EntryWalk(const FrameSection& section) : section_(section), reader_(section.bytes) {}

  // False at the end, and where a length leads outside the section: whatever follows is out of reach.
  bool next(RawEntry& entry) {
    while (!reader_.at_end()) {
      entry.offset = reader_.offset();
      uint64_t length = reader_.u32();
      bool is_long = length == kLongLength;
      if (is_long) length = reader_.u64();
      if (reader_.ok() && length == 0) {
        if (section_.ends_at_zero) return false;
        continue;
      }
      uint64_t begin = reader_.offset();
      reader_.skip(length);
      // Fewer than four bytes at the end are padding.
      is_broken_ = !reader_.ok() && section_.bytes.size() - entry.offset >= sizeof(uint32_t);
      if (!reader_.ok()) return false;
      if (read_id(begin, begin + length, is_long, entry)) return true;
    }
    return false;
  }
  bool is_broken() const { return is_broken_; }

 private:
  bool read_id(uint64_t begin, uint64_t end, bool is_long, RawEntry& entry) const {
    ByteReader reader(section_.bytes.first(end));
    reader.seek(begin);
    uint64_t id = is_long ? reader.u64() : reader.u32();
    if (!reader.ok()) return false;
    uint64_t cie_id = !section_.is_debug_frame ? 0 : is_long ? ~uint64_t{0} : kLongLength;
    entry.cie = std::nullopt;
    // In .eh_frame an FDE's id is the distance back to its CIE, in .debug_frame the CIE's offset.
    if (id != cie_id) entry.cie = section_.is_debug_frame ? id : begin - id;
    entry.body = {reader.offset(), end};
    return true;
  }

  const FrameSection& section_;
  ByteReader reader_;
  bool is_broken_ = false;
};

// Reads the data that an augmentation's letters announce; false at a letter that is not known.
bool read_augmentation(std::string_view letters, ByteReader& reader, const FrameSection& section, Cie& cie) {
  for (char letter : letters) {
    switch (letter) {
      case 'R':
        cie.pointer_encoding = reader.u8();
        break;
      case 'L':
        reader.skip(1);
        break;
      case 'P': {
        uint8_t encoding = reader.u8();
        if (!skip_encoded_pointer(reader, encoding, section)) return false;
        break;
      }
      case 'S':
        cie.is_signal_frame = true;
        break;
      case 'B':  // AArch64's key for signed return addresses
        break;
      default:
        return false;
    }
  }
  return true;
}

std::optional<Cie> read_cie(const FrameSection& section, const RawEntry& entry) {
  ByteReader reader(section.bytes.first(entry.body.end));
  reader.seek(entry.body.begin);
  Cie cie{.offset = entry.offset};
  uint8_t version = reader.u8();
  if (version != 1 && version != 3 && version != 4) return std::nullopt;
  std::string_view augmentation = reader.c_string();
  if (version == 4) {
    uint8_t pointer_size = reader.u8();
    uint8_t segment_size = reader.u8();
    if ((pointer_size != 8 && pointer_size != 4) || segment_size != 0) return std::nullopt;
    if (pointer_size == 4) cie.pointer_encoding = DW_EH_PE_udata4;
  }
  // GCC 2 put a pointer here that only its exceptions need.
  if (augmentation.starts_with("eh")) {
    reader.skip(8);
    augmentation.remove_prefix(2);
  }
  cie.code_alignment = read_uleb128(reader);
  cie.data_alignment = read_sleb128(reader);
  uint64_t return_column = version == 1 ? reader.u8() : read_uleb128(reader);
  if (!reader.ok() || return_column != kReturnColumn) return std::nullopt;

  cie.has_augmentation_size = augmentation.starts_with('z');
  if (cie.has_augmentation_size) {
    uint64_t size = read_uleb128(reader);
    if (size > reader.remaining()) return std::nullopt;
    uint64_t end = reader.offset() + size;
    // The size leads past letters that are not known.
    (void)read_augmentation(augmentation.substr(1), reader, section, cie);
    reader.seek(end);
  } else if (!read_augmentation(augmentation, reader, section, cie)) {
    return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  cie.program = {reader.offset(), entry.body.end};
  return cie;
}

std::optional<Fde> read_fde(const FrameSection& section, const RawEntry& entry, const Cie& cie) {
  ByteReader reader(section.bytes.first(entry.body.end));
  reader.seek(entry.body.begin);
  auto start = read_encoded_pointer(reader, cie.pointer_encoding, section);
  auto size = read_encoded_size(reader, cie.pointer_encoding);
  if (cie.has_augmentation_size) reader.skip(read_uleb128(reader));
  if (!start || !size || !reader.ok() || *start + *size < *start) return std::nullopt;
  return Fde{.start = {*start}, .size = *size, .program = {reader.offset(), entry.body.end}};
}

// The index of the CIE at that offset; cies.size() when there is none. Neighbours tend to have the same.
size_t find_cie(const std::vector<Cie>& cies, uint64_t offset, size_t last) {
  if (last < cies.size() && cies[last].offset == offset) return last;
  auto found = std::ranges::lower_bound(cies, offset, {}, &Cie::offset);
  bool is_there = found != cies.end() && found->offset == offset;
  return is_there ? found - cies.begin() : cies.size();
}

}  // namespace

CfiEntries read_cfi_entries(const FrameSection& section) {
  CfiEntries entries;
  RawEntry raw;
  // In .debug_frame a CIE may stand behind its FDEs.
  for (EntryWalk walk(section); walk.next(raw);) {
    if (raw.cie || entries.cies.size() == kMaxCies) continue;
    if (auto cie = read_cie(section, raw)) entries.cies.push_back(*cie);
  }
  size_t cie = 0;
  EntryWalk walk(section);
  while (walk.next(raw)) {
    if (!raw.cie) continue;
    cie = find_cie(entries.cies, *raw.cie, cie);
    auto fde = cie < entries.cies.size() ? read_fde(section, raw, entries.cies[cie]) : std::nullopt;
    if (!fde) {
      ++entries.unreadable;
      continue;
    }
    // Linkers leave the entries of functions they dropped: of no size, or in .debug_frame at 0.
    bool is_dropped = fde->size == 0 || (section.is_debug_frame && fde->start == ElfAddr{0});
    if (is_dropped) continue;
    fde->cie = static_cast<uint32_t>(cie);
    entries.fdes.push_back(*fde);
  }
  if (walk.is_broken()) ++entries.unreadable;
  return entries;
}

}  // namespace jitprof
