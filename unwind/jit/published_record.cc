// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/published_record.h"

#include <string>
#include <utility>

namespace jitprof {
namespace {

constexpr uint32_t kVersion = 1;
constexpr uint32_t kDetailsKind = 1;
constexpr uint32_t kUnloadKind = 2;
constexpr uint64_t kRowSize = 16;
constexpr uint64_t kEntrySize = 8;

// Empty and `dropped` unless all rows are in order: a wrong row would make up a caller.
std::vector<JitFrameRow> read_frame_rows(ByteReader& reader, uint32_t count, uint64_t code_size,
                                         bool& dropped) {
  ByteReader rows(reader.take(count * kRowSize));
  std::vector<JitFrameRow> frame_rows;
  if (!reader.ok()) return frame_rows;
  frame_rows.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    JitFrameRow row;
    row.offset = rows.u32();
    uint32_t base = rows.u32();
    row.cfa_offset = rows.read<int32_t>();
    row.rbp_offset = rows.read<int32_t>();
    bool is_rsp = base == static_cast<uint32_t>(Register::rsp);
    bool is_known_base = is_rsp || base == static_cast<uint32_t>(Register::rbp);
    bool is_after = frame_rows.empty() ? row.offset == 0 : row.offset > frame_rows.back().offset;
    // The return address lies between base and CFA, and an rbp that was saved lies below it.
    bool is_frame = row.cfa_offset >= 8 && (row.rbp_offset == 0 || row.rbp_offset <= -16);
    if (!is_known_base || !is_after || row.offset >= code_size || !is_frame) {
      dropped = true;
      return {};
    }
    row.base = is_rsp ? Register::rsp : Register::rbp;
    frame_rows.push_back(row);
  }
  return frame_rows;
}

// nullopt: not as many strings as there should be.
std::optional<std::vector<InlineTable::Callee>> read_callees(ByteReader& strings, uint32_t count) {
  std::vector<InlineTable::Callee> callees;
  // Each takes two bytes at least, so that the strings there are bound what a count can make us allocate.
  if (count > strings.remaining() / 2) return std::nullopt;
  callees.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    std::string_view name = strings.c_string();
    std::string_view file = strings.c_string();
    callees.push_back({std::string(name), std::string(file)});
  }
  if (!strings.ok()) return std::nullopt;
  return callees;
}

std::optional<InlineTable> read_inlines(Bytes entries, Bytes strings, uint32_t callee_count,
                                        uint64_t code_size) {
  ByteReader texts(strings);
  std::string file(texts.c_string());
  std::optional<std::vector<InlineTable::Callee>> callees = read_callees(texts, callee_count);
  if (!callees || code_size > UINT32_MAX) return std::nullopt;
  std::vector<InlineTable::Entry> table(entries.size() / kEntrySize);
  ByteReader words(entries);
  for (InlineTable::Entry& entry : table) {
    entry.line = words.read<int32_t>();
    entry.value = words.u32();
  }
  return InlineTable::make(table, static_cast<uint32_t>(code_size), std::move(file), std::move(*callees));
}

}  // namespace

std::optional<PublishedRecord> read_published_record(Bytes body) {
  ByteReader reader(body);
  PublishedRecord record;
  uint32_t version = reader.u32();
  uint32_t kind = reader.u32();
  record.code_index = reader.u64();
  record.code_start = {reader.u64()};
  record.code_size = reader.u64();
  uint32_t row_count = reader.u32();
  uint32_t entry_count = reader.u32();
  uint32_t callee_count = reader.u32();
  uint32_t string_size = reader.u32();
  if (!reader.ok() || version != kVersion || (kind != kDetailsKind && kind != kUnloadKind)) {
    return std::nullopt;
  }
  if (kind == kUnloadKind) {
    record.kind = PublishedRecord::Kind::kUnload;
    return record;
  }
  record.frame_rows = read_frame_rows(reader, row_count, record.code_size, record.frame_rows_dropped);
  Bytes entries = reader.take(entry_count * kEntrySize);
  Bytes strings = reader.take(string_size);
  if (!reader.ok()) return std::nullopt;
  if (std::optional<InlineTable> inlines = read_inlines(entries, strings, callee_count, record.code_size)) {
    record.inlines = std::move(*inlines);
  } else {
    record.inlines_dropped = true;
  }
  return record;
}

}  // namespace jitprof
