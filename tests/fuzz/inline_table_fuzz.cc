// SPDX-License-Identifier: Apache-2.0

// Any bytes as the record of jit.h, and as the entries of a line table: must end without a crash, and what is
// accepted must be looked up as the table's definition words it. The first byte says which: 0 the body of a
// record, else entries, of a code size of the second byte.

#include <cstring>

#include "base/result.h"
#include "tests/unwind/inline_entries.h"
#include "unwind/jit/published_record.h"

namespace jitprof {
namespace {

void read_record(Bytes body) {
  std::optional<PublishedRecord> record = read_published_record(body);
  if (!record) return;
  for (uint32_t offset = 0; offset < 300; offset += 7) {
    std::vector<InlineTable::Frame> chain = record->inlines.lookup(offset);
    JP_CHECK(chain.size() <= InlineTable::kMaxDepth + 1);
    JP_CHECK(chain.back().callee == InlineTable::kMethod);
    for (const InlineTable::Frame& frame : chain) JP_CHECK(frame.line <= INT32_MAX);
  }
  for (const JitFrameRow& row : record->frame_rows) JP_CHECK(row.offset < record->code_size);
}

// Three bytes an entry, so that what the fuzzer changes is small: line, and 16 bits of value.
void look_up(Bytes bytes, uint32_t code_size) {
  tests::InlineEntries entries;
  for (; bytes.size() >= 3; bytes = bytes.subspan(3)) {
    uint16_t value;
    std::memcpy(&value, &bytes[1], sizeof value);
    entries.push_back({static_cast<int8_t>(bytes[0]), value});
  }
  std::optional<InlineTable> table = InlineTable::make(entries, code_size, "", tests::numbered_callees(3));
  if (!table) return;
  for (uint32_t offset = 0; offset <= code_size; ++offset) {
    JP_CHECK(tests::chain_of(*table, offset) == tests::look_up_by_definition(entries, offset));
  }
}

}  // namespace
}  // namespace jitprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace jitprof;
  if (size < 2) return 0;
  Bytes bytes(reinterpret_cast<const std::byte*>(input), size);
  if (input[0] == 0) {
    read_record(bytes.subspan(1));
  } else {
    look_up(bytes.subspan(2), input[1]);
  }
  return 0;
}
