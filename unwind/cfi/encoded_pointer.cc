// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/encoded_pointer.h"

#include <dwarf.h>

#include "base/leb128.h"

namespace jitprof {
namespace {

constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kRelationMask = 0x70;

std::optional<uint64_t> read_format(ByteReader& reader, uint8_t format) {
  uint64_t value = 0;
  switch (format) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
    case DW_EH_PE_signed:  // a signed pointer of the machine's size
      value = reader.u64();
      break;
    case DW_EH_PE_uleb128:
      value = read_uleb128(reader);
      break;
    case DW_EH_PE_udata2:
      value = reader.u16();
      break;
    case DW_EH_PE_udata4:
      value = reader.u32();
      break;
    case DW_EH_PE_sleb128:
      value = static_cast<uint64_t>(read_sleb128(reader));
      break;
    case DW_EH_PE_sdata2:
      value = static_cast<uint64_t>(int64_t{reader.read<int16_t>()});
      break;
    case DW_EH_PE_sdata4:
      value = static_cast<uint64_t>(int64_t{reader.read<int32_t>()});
      break;
    default:
      return std::nullopt;
  }
  return reader.ok() ? std::optional(value) : std::nullopt;
}

void align_to_pointer(ByteReader& reader, const FrameSection& section) {
  reader.skip(-(section.start.value + reader.offset()) % 8);
}

}  // namespace

std::optional<uint64_t> read_encoded_pointer(ByteReader& reader, uint8_t encoding,
                                             const FrameSection& section) {
  if (encoding == DW_EH_PE_omit || (encoding & DW_EH_PE_indirect) != 0) return std::nullopt;
  std::optional<ElfAddr> base;
  switch (encoding & kRelationMask) {
    case DW_EH_PE_absptr:
      base = ElfAddr{0};
      break;
    case DW_EH_PE_pcrel:
      base = section.start.plus(reader.offset());
      break;
    case DW_EH_PE_textrel:
      base = section.text_base;
      break;
    case DW_EH_PE_datarel:
      base = section.data_base;
      break;
    case DW_EH_PE_aligned:
      align_to_pointer(reader, section);
      base = ElfAddr{0};
      break;
    default:
      break;
  }
  auto value = read_format(reader, encoding & kFormatMask);
  if (!value || !base) return std::nullopt;
  return base->value + *value;
}

std::optional<uint64_t> read_encoded_size(ByteReader& reader, uint8_t encoding) {
  // The sign is the pointer's; a size has none.
  return read_format(reader, encoding & kFormatMask & ~DW_EH_PE_signed);
}

bool skip_encoded_pointer(ByteReader& reader, uint8_t encoding, const FrameSection& section) {
  if (encoding == DW_EH_PE_omit) return true;
  if ((encoding & kRelationMask) == DW_EH_PE_aligned) align_to_pointer(reader, section);
  return read_format(reader, encoding & kFormatMask).has_value();
}

}  // namespace jitprof
