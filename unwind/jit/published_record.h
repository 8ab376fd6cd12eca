// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_reader.h"
#include "base/position.h"
#include "unwind/jit/inline_table.h"
#include "unwind/jit/jit_code.h"

namespace jitprof {

// The jitdump record of include/jitprof/jit.h, which says what jitdump's own records cannot. Its layout is
// there, at struct jitprof_record_body.
inline constexpr uint32_t kPublishedRecordId = 0x4a50;

struct PublishedRecord {
  // kDetails belongs to the JIT_CODE_LOAD of the same index, which follows it in the file; of several the
  // last one counts. kUnload: from the time of the record on the code at that place is gone.
  enum class Kind : uint8_t { kDetails, kUnload };
  Kind kind = Kind::kDetails;
  uint64_t code_index = 0;
  RuntimeAddr code_start;
  uint64_t code_size = 0;
  std::vector<JitFrameRow> frame_rows;
  InlineTable inlines;
  // Was there, but was not in order, and is left out.
  bool frame_rows_dropped = false;
  bool inlines_dropped = false;
};

// From the bytes behind the 16 of the record's prefix (id, size, timestamp). nullopt for a record that is cut
// short, or of a version or kind made later than this reader.
std::optional<PublishedRecord> read_published_record(Bytes body);

}  // namespace jitprof
