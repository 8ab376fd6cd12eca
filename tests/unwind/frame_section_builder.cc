// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/frame_section_builder.h"

#include <algorithm>

namespace jitprof::tests {

CfiBytes& CfiBytes::number(uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(value >> 8 * i));
  return *this;
}

CfiBytes& CfiBytes::uleb(uint64_t value) {
  for (; value >= 0x80; value >>= 7) u8(static_cast<uint8_t>(value | 0x80));
  return u8(static_cast<uint8_t>(value));
}

CfiBytes& CfiBytes::sleb(int64_t value) {
  for (; value < -64 || value > 63; value >>= 7) u8(static_cast<uint8_t>(value | 0x80));
  return u8(static_cast<uint8_t>(value & 0x7f));
}

CfiBytes& CfiBytes::text(const std::string& value) {
  for (char letter : value) u8(static_cast<uint8_t>(letter));
  return u8(0);
}

CfiBytes& CfiBytes::append(const CfiBytes& other) {
  bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
  return *this;
}

void CfiBytes::put(size_t at, const CfiBytes& other) {
  std::copy(other.bytes_.begin(), other.bytes_.end(), bytes_.begin() + at);
}

uint64_t FrameSectionBuilder::add_cie(const CieParts& parts) {
  CfiBytes entry;
  uint64_t id = is_debug_frame_ ? ~uint64_t{0} : 0;
  entry.number(id, parts.is_long ? 8 : 4).u8(parts.version).text(parts.augmentation);
  entry.append(parts.behind_augmentation).uleb(parts.code_alignment).sleb(parts.data_alignment);
  entry.u8(parts.return_column);
  if (parts.augmentation.starts_with('z')) entry.uleb(parts.augmentation_data.size());
  entry.append(parts.augmentation_data).append(parts.program);
  return add_entry(entry, parts.is_long);
}

uint64_t FrameSectionBuilder::add_fde(uint64_t cie, const CfiBytes& pointers, const CfiBytes& program,
                                      bool is_long) {
  uint64_t id_place = bytes_.size() + (is_long ? 12 : 4);
  CfiBytes entry;
  entry.number(is_debug_frame_ ? cie : id_place - cie, is_long ? 8 : 4);
  return add_entry(entry.append(pointers).append(program), is_long);
}

uint64_t FrameSectionBuilder::add_fde(uint64_t cie, uint64_t start, uint64_t size, const CfiBytes& program) {
  return add_fde(cie, CfiBytes().u64(start).u64(size), program);
}

uint64_t FrameSectionBuilder::add_entry(const CfiBytes& id_and_body, bool is_long) {
  uint64_t offset = bytes_.size();
  if (is_long) bytes_.u32(0xffffffff);
  bytes_.number(id_and_body.size(), is_long ? 8 : 4).append(id_and_body);
  return offset;
}

FrameSection FrameSectionBuilder::section() const {
  return {.bytes = bytes_.bytes(), .start = {kStart}, .is_debug_frame = is_debug_frame_};
}

}  // namespace jitprof::tests
