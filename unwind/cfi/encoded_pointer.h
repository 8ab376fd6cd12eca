// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "unwind/cfi/frame_section.h"

namespace jitprof {

// Reads a pointer in a DW_EH_PE_* encoding (LSB Core 5.0, 10.5.1); `reader` reads the section's bytes from
// their first one, so that its offset gives the pointer's own place. nullopt when the bytes end or the value
// is not to be had from the section: omitted, relative to an unknown base, or indirect (the dynamic linker
// fills in what it points to).
std::optional<uint64_t> read_encoded_pointer(ByteReader& reader, uint8_t encoding,
                                             const FrameSection& section);

// Reads a size in the format of that encoding, relative to nothing.
std::optional<uint64_t> read_encoded_size(ByteReader& reader, uint8_t encoding);

// Passes over a pointer whose value is of no interest, an indirect one too; false when its size is unknown.
bool skip_encoded_pointer(ByteReader& reader, uint8_t encoding, const FrameSection& section);

}  // namespace jitprof
