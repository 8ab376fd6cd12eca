// SPDX-License-Identifier: Apache-2.0
#include "unwind/jit/jitdump.h"

#include <elf.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace jitprof {
namespace {

using jitdump::CodeLoad;
using jitdump::RecordId;
using jitdump::RecordPrefix;

constexpr uint32_t kMaxHeader = 4096;
// More than any runtime's whole code cache but HotSpot's, which writes methods one by one.
constexpr uint32_t kMaxRecord = 256 << 20;
constexpr size_t kMaxName = 16 << 10;
// How long a producer may keep a record in its buffer: V8 writes 4096 bytes at a time.
constexpr uint64_t kMaxBuffered_ns = 60'000'000'000;

std::vector<std::byte> copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

JitdumpReader::JitdumpReader(uint32_t pid, bool uses_times, JitLog& log)
    : pid_(pid), uses_times_(uses_times), log_(log) {}

void JitdumpReader::add(Bytes piece, LookTimes times) {
  if (half_record_.empty()) {
    half_record_ = copy_of(read_all(piece, times, times));
    half_record_from_ns_ = times.from_ns;
    return;
  }
  half_record_.insert(half_record_.end(), piece.begin(), piece.end());
  Bytes rest = read_all(half_record_, {half_record_from_ns_, times.seen_ns}, times);
  if (rest.size() == half_record_.size()) return;
  half_record_ = copy_of(rest);
  half_record_from_ns_ = times.from_ns;
}

Bytes JitdumpReader::read_all(Bytes bytes, LookTimes times, LookTimes times_behind) {
  while (!is_over_) {
    uint64_t used = has_header_ ? read_record(bytes, times) : read_header(bytes);
    if (used == 0) break;
    bytes = bytes.subspan(used);
    times = times_behind;
  }
  return is_over_ ? Bytes() : bytes;
}

uint64_t JitdumpReader::read_header(Bytes bytes) {
  ByteReader reader(bytes);
  auto header = reader.read<jitdump::FileHeader>();
  if (!reader.ok()) return 0;
  bool is_readable = header.magic == jitdump::kMagic && header.version == jitdump::kVersion &&
                     header.total_size >= sizeof header && header.total_size <= kMaxHeader &&
                     (header.elf_machine == EM_X86_64 || header.elf_machine == EM_NONE);
  if (!is_readable) {
    give_up("jitdumps with another byte order, version or machine");
    return 0;
  }
  if (bytes.size() < header.total_size) return 0;
  has_header_ = true;
  has_arch_times_ = (header.flags & jitdump::kArchTimes) != 0;
  is_v8_ = header.pad == jitdump::kV8Pad;
  lines_ = JitdumpLines(is_v8_);
  return header.total_size;
}

uint64_t JitdumpReader::read_record(Bytes bytes, LookTimes times) {
  ByteReader reader(bytes);
  auto prefix = reader.read<RecordPrefix>();
  if (!reader.ok()) return 0;
  if (prefix.total_size < sizeof prefix || prefix.total_size > kMaxRecord) {
    give_up("jitdumps that could not be read to their end");
    return 0;
  }
  if (bytes.size() < prefix.total_size) return 0;
  on_record(prefix, bytes.subspan(sizeof prefix, prefix.total_size - sizeof prefix), times);
  return prefix.total_size;
}

void JitdumpReader::on_record(const RecordPrefix& prefix, Bytes body, LookTimes times) {
  bool is_read = true;
  switch (static_cast<RecordId>(prefix.id)) {
    case RecordId::kCodeLoad:
      is_read = on_load(body, time_of(prefix, times));
      break;
    case RecordId::kCodeMove:
      is_read = on_move(body, time_of(prefix, times));
      break;
    case RecordId::kCodeDebugInfo:
      is_read = on_debug_info(body);
      break;
    case RecordId::kCodeUnwindingInfo:
      is_read = on_unwinding_info(body);
      break;
    // The end of the file says the same.
    case RecordId::kCodeClose:
      break;
    default:
      if (prefix.id == kPublishedRecordId) is_read = on_published(body, time_of(prefix, times));
  }
  if (!is_read) ++log_.shortfalls["jitdump records that could not be read"];
}

bool JitdumpReader::on_load(Bytes body, uint64_t time_ns) {
  // It stands for this load alone, whether that can be read or not.
  std::vector<std::byte> eh_frame = std::exchange(announced_.eh_frame, {});
  ByteReader reader(body);
  auto load = reader.read<CodeLoad>();
  std::string_view name = reader.c_string();
  Bytes bytes = reader.take(load.code_size);
  RuntimeAddr start{load.code_start != 0 ? load.code_start : load.vma};
  if (!reader.ok() || load.code_size == 0 || start.value + load.code_size < start.value) return false;

  JitCode& code = log_.codes.emplace_back();
  code.channel = JitCode::Channel::kJitDump;
  code.name = name.substr(0, kMaxName);
  code.size = load.code_size;
  code.bytes = copy_of(bytes);
  code.eh_frame = std::move(eh_frame);
  // V8 and CPython write pc-relative positions as if the section followed the code at the next multiple of 8.
  code.eh_frame_start = {(load.code_size + 7) & ~uint64_t{7}};
  add_announced(load, start, code);
  log_.changes.push_back({.time_ns = time_ns,
                          .pid = pid_,
                          .kind = JitChange::Kind::kLoad,
                          .code = static_cast<uint32_t>(log_.codes.size() - 1),
                          .start = start,
                          .size = load.code_size,
                          .moved_to = {}});
  return true;
}

void JitdumpReader::add_announced(const CodeLoad& load, RuntimeAddr start, JitCode& code) {
  auto details = announced_.details.extract(load.code_index);
  bool is_published =
      !details.empty() && details.mapped().code_start == start && details.mapped().code_size == code.size;
  if (is_published) {
    code.frame_rows = std::move(details.mapped().frame_rows);
    code.inlines = std::move(details.mapped().inlines);
  }
  auto lines = announced_.lines.extract(start.value);
  if (!lines.empty() && !lines_.read(lines.mapped(), start, is_v8_ || is_published, code))
    ++log_.shortfalls["line tables of jitdumps that could not be read"];
}

bool JitdumpReader::on_move(Bytes body, uint64_t time_ns) {
  ByteReader reader(body);
  auto move = reader.read<jitdump::CodeMove>();
  uint64_t size = move.code_size;
  if (!reader.ok() || size == 0 || move.old_start + size < size || move.new_start + size < size) return false;
  log_.changes.push_back({.time_ns = time_ns,
                          .pid = pid_,
                          .kind = JitChange::Kind::kMove,
                          .start = {move.old_start},
                          .size = size,
                          .moved_to = {move.new_start}});
  return true;
}

// Whether its entries are in order is seen once the code's size is known.
bool JitdumpReader::on_debug_info(Bytes body) {
  ByteReader reader(body);
  auto head = reader.read<jitdump::CodeDebugInfo>();
  if (!reader.ok()) return false;
  announced_.lines[head.code_start] = copy_of(body);
  return true;
}

bool JitdumpReader::on_unwinding_info(Bytes body) {
  announced_.eh_frame.clear();
  ByteReader reader(body);
  auto head = reader.read<jitdump::CodeUnwindingInfo>();
  Bytes sections = reader.take(head.unwinding_size);
  if (!reader.ok() || head.eh_frame_header_size > head.unwinding_size) return false;
  // V8 writes the header alone, an empty table, for code whose frames only the frame pointer finds.
  announced_.eh_frame = copy_of(sections.first(head.unwinding_size - head.eh_frame_header_size));
  return true;
}

bool JitdumpReader::on_published(Bytes body, uint64_t time_ns) {
  std::optional<PublishedRecord> record = read_published_record(body);
  if (!record) return false;
  if (record->frame_rows_dropped) ++log_.shortfalls["published frame rules that could not be read"];
  if (record->inlines_dropped)
    ++log_.shortfalls["published tables of inlined methods that could not be read"];
  if (record->kind == PublishedRecord::Kind::kDetails) {
    uint64_t code_index = record->code_index;
    announced_.details.insert_or_assign(code_index, std::move(*record));
    return true;
  }
  if (record->code_size == 0 || record->code_start.value + record->code_size < record->code_size)
    return false;
  log_.changes.push_back({.time_ns = time_ns,
                          .pid = pid_,
                          .kind = JitChange::Kind::kUnload,
                          .start = record->code_start,
                          .size = record->code_size,
                          .moved_to = {}});
  return true;
}

// Producers have written wall-clock and processor times. A record of CLOCK_MONOTONIC is not from the future
// of the look that found it; with a header that says otherwise, it must also be from shortly before.
uint64_t JitdumpReader::time_of(const RecordPrefix& prefix, LookTimes times) {
  if (!uses_times_) return 0;
  bool is_old = times.seen_ns == LookTimes::kNever || prefix.time_ns + kMaxBuffered_ns < times.from_ns;
  if (prefix.time_ns <= times.seen_ns && !(has_arch_times_ && is_old)) return prefix.time_ns;
  ++log_.shortfalls["jitdump records with times of another clock"];
  return times.from_ns;
}

void JitdumpReader::give_up(const char* shortfall) {
  ++log_.shortfalls[shortfall];
  is_over_ = true;
}

void JitdumpReader::lose_bytes() {
  if (!is_over_) give_up("jitdumps that could not be read to their end");
  forget();
}

void JitdumpReader::begin_anew() {
  finish();
  has_header_ = false;
  is_over_ = false;
}

void JitdumpReader::finish() {
  if (!half_record_.empty()) ++log_.shortfalls["jitdumps that end inside a record"];
  forget();
}

void JitdumpReader::forget() {
  announced_ = Announced();
  half_record_ = {};
}

}  // namespace jitprof
