// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dwarf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unwind/cfi/frame_section.h"

namespace jitprof::tests {

// Bytes of CFI, written one after the other.
class CfiBytes {
 public:
  CfiBytes() = default;
  CfiBytes(std::initializer_list<int> bytes) {
    for (int byte : bytes) u8(static_cast<uint8_t>(byte));
  }

  CfiBytes& number(uint64_t value, unsigned size);
  CfiBytes& u8(uint8_t value) { return number(value, 1); }
  CfiBytes& u16(uint16_t value) { return number(value, 2); }
  CfiBytes& u32(uint32_t value) { return number(value, 4); }
  CfiBytes& u64(uint64_t value) { return number(value, 8); }
  CfiBytes& uleb(uint64_t value);
  CfiBytes& sleb(int64_t value);
  CfiBytes& text(const std::string& value);
  CfiBytes& append(const CfiBytes& other);
  // With its length in front, as expressions have it.
  CfiBytes& block(const CfiBytes& other) { return uleb(other.size()).append(other); }

  size_t size() const { return bytes_.size(); }
  Bytes bytes() const { return bytes_; }
  void put(size_t at, const CfiBytes& other);

 private:
  std::vector<std::byte> bytes_;
};

// One .eh_frame or .debug_frame made by hand. Entries may contradict one another and the standard.
class FrameSectionBuilder {
 public:
  // Where the section stands.
  static constexpr uint64_t kStart = 0x100000;
  explicit FrameSectionBuilder(bool is_debug_frame = false) : is_debug_frame_(is_debug_frame) {}

  struct CieParts {
    uint8_t version = 1;
    std::string augmentation;
    CfiBytes behind_augmentation;  // "eh" data, or version 4's sizes
    uint64_t code_alignment = 1;
    int64_t data_alignment = -8;
    uint8_t return_column = 16;
    CfiBytes augmentation_data;  // its size is put in front when the augmentation begins with z
    CfiBytes program = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
    bool is_long = false;  // 64-bit DWARF
  };
  // Their offsets.
  uint64_t add_cie(const CieParts& parts);
  uint64_t add_cie() { return add_cie(CieParts()); }
  // `pointers`: start and size as the CIE's encoding wants them, and augmentation data.
  uint64_t add_fde(uint64_t cie, const CfiBytes& pointers, const CfiBytes& program, bool is_long = false);
  // With eight-byte pointers.
  uint64_t add_fde(uint64_t cie, uint64_t start, uint64_t size, const CfiBytes& program = {});
  void add_bytes(const CfiBytes& bytes) { bytes_.append(bytes); }

  size_t size() const { return bytes_.size(); }
  // Views the builder.
  FrameSection section() const;

 private:
  uint64_t add_entry(const CfiBytes& id_and_body, bool is_long);

  bool is_debug_frame_;
  CfiBytes bytes_;
};

}  // namespace jitprof::tests
