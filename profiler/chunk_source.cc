// SPDX-License-Identifier: Apache-2.0
#include "profiler/chunk_source.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "profiler/damage.h"
#include "profiler/format.h"

namespace jitprof {
namespace {

constexpr uint32_t kIsJitFiles = format::ChunkHeader::kIsJitFiles;
constexpr uint32_t kHasSideFiles = format::ChunkHeader::kHasModules | kIsJitFiles;

// The events that are handed out before all others, and so are passed over when their chunk's turn comes.
// `contents` is of the chunk's header: older recordings have perf maps and jitdumps between the samples.
bool comes_first(const Event& event, uint32_t contents) {
  if (std::holds_alternative<ModuleEvent>(event)) return true;
  const auto* piece = std::get_if<SideFileEvent>(&event);
  if (piece == nullptr) return false;
  if (is_jit_file(piece->kind)) return (contents & kIsJitFiles) != 0;
  return piece->kind == SideFileKind::kVdso || piece->kind == SideFileKind::kModuleImage;
}

}  // namespace

Result<std::unique_ptr<Recording::Source>> Recording::ChunkSource::open(MappedFile file,
                                                                        const std::string& name,
                                                                        WorkerPool* helpers) {
  std::unique_ptr<ChunkSource> source(new ChunkSource(std::move(file), name));
  if (helpers != nullptr && helpers->jobs() > 1)
    source->read_ahead_ = std::make_unique<ChunkReadAhead>(source->file_.bytes(), *helpers);
  JP_TRY(source->read_file_header());
  return std::unique_ptr<Source>(std::move(source));
}

Recording::ChunkSource::~ChunkSource() { order_.buffers().drop(chunk_); }

// Reads up to the header record, without which no event can be decoded. A recorder killed before it wrote
// that leaves an empty recording.
Status Recording::ChunkSource::read_file_header() {
  ByteReader reader(file_.bytes());
  auto head = reader.read<format::FileHeader>();
  offset_ = head.size;
  if (!reader.ok()) {
    offset_ = file_.bytes().size() + 1;
    return Nothing{};
  }
  if (head.version != format::kVersion) {
    return Error{"'" + name_ + "' is a recording of version " + std::to_string(head.version) +
                 ", this jitprof reads version " + std::to_string(format::kVersion) +
                 ": use the jitprof that wrote it"};
  }
  if (head.size < sizeof head)
    return damage_at(name_, 12, "file header of size " + std::to_string(head.size));
  bool has_chunk = JP_TRY(open_chunk());
  if (!has_chunk) return Nothing{};
  Bytes records = order_.buffers().bytes(chunk_);
  auto first = ByteReader(records).read<format::RecordHead>();
  if (first.type != format::RecordType::kHeader || first.size > records.size() ||
      !records_.read_header(records.first(first.size), header_)) {
    return damage("the first record is no header");
  }
  if (header_.architecture != "x86_64") {
    return Error{"'" + name_ + "' was recorded on " + header_.architecture +
                 ": only recordings of x86_64 can be read"};
  }
  parsed_ = first.size;
  ahead_ = head.size;
  is_ahead_over_ = false;
  return Nothing{};
}

// Takes the module records and side files of the next chunk that has some; false when there is none. Damage
// ends the search and is left for the chunk's own turn to find.
bool Recording::ChunkSource::read_side_files_ahead() {
  Bytes file = file_.bytes();
  while (!is_ahead_over_ && ahead_ < file.size()) {
    ByteReader reader(file.subspan(ahead_));
    auto head = reader.read<format::ChunkHeader>();
    if (!reader.ok() || !is_valid(head)) break;
    Bytes stored = reader.take(head.stored_size);
    if (!reader.ok()) break;
    if ((head.contents & kHasSideFiles) != 0) {
      Result<OwnedBytes> records = chunks_.decode(head, stored);
      if (!records.ok()) break;
      BufferId chunk = order_.buffers().add(std::move(records.value()));
      hold_side_files(chunk, head.contents);
      order_.buffers().drop(chunk);
    }
    ahead_ += sizeof head + stored.size();
    if ((head.contents & kHasSideFiles) != 0) return true;
  }
  is_ahead_over_ = true;
  return false;
}

void Recording::ChunkSource::hold_side_files(BufferId chunk, uint32_t contents) {
  ByteReader reader(order_.buffers().bytes(chunk));
  while (reader.remaining() >= sizeof(format::RecordHead)) {
    uint64_t start = reader.offset();
    auto head = reader.read<format::RecordHead>();
    reader.seek(start);
    Bytes record = reader.take(head.size);
    if (!reader.ok() || head.size < sizeof head || head.size % 8 != 0) return;
    bool is_candidate =
        head.type == format::RecordType::kModule || head.type == format::RecordType::kSideFile;
    if (!is_candidate || records_.decode(record, event_) != ChunkRecordDecoder::Outcome::kEvent) continue;
    if (comes_first(event_, contents)) order_.hold({0, record, 0, chunk});
  }
}

Error Recording::ChunkSource::damage(const std::string& what) const {
  return damage_at(name_, chunk_offset_, what);
}

// Goes to the next chunk of which something has not been taken yet; false at the end of the file.
Result<bool> Recording::ChunkSource::open_next_chunk() {
  Bytes file = file_.bytes();
  while (offset_ < ahead_) {
    ByteReader reader(file.subspan(offset_));
    auto head = reader.read<format::ChunkHeader>();
    if ((head.contents & kIsJitFiles) == 0) break;
    offset_ += sizeof head + head.stored_size;
  }
  return open_chunk();
}

// Inflates the next chunk; false at the end of the file.
Result<bool> Recording::ChunkSource::open_chunk() {
  Bytes file = file_.bytes();
  if (offset_ == file.size()) return false;
  is_torn_ = true;  // unless the chunk is whole
  if (offset_ > file.size()) return false;
  chunk_offset_ = offset_;
  ByteReader reader(file.subspan(offset_));
  auto head = reader.read<format::ChunkHeader>();
  if (!reader.ok()) return false;
  if (!is_valid(head)) return damage("no chunk begins here");
  Bytes stored = reader.take(head.stored_size);
  if (!reader.ok()) return false;
  bool is_read_ahead = read_ahead_ != nullptr && (head.contents & kIsJitFiles) == 0;
  Result<OwnedBytes> records = is_read_ahead ? read_ahead_->take(offset_) : chunks_.decode(head, stored);
  if (!records.ok()) return damage(records.error().message);
  order_.buffers().drop(chunk_);
  chunk_ = order_.buffers().add(std::move(records.value()));
  contents_ = head.contents;
  parsed_ = 0;
  offset_ += sizeof head + stored.size();
  file_.forget_before(offset_);
  is_torn_ = false;
  return true;
}

Result<bool> Recording::ChunkSource::read_record() {
  if (read_side_files_ahead()) return true;
  Bytes records = chunk_.is_none() ? Bytes() : Bytes(order_.buffers().bytes(chunk_));
  if (parsed_ == records.size()) {
    bool has_chunk = JP_TRY(open_next_chunk());
    if (is_torn_) count_shortfall("torn last chunk");
    if (!has_chunk && !has_end_) {
      count_shortfall("'" + name_ + "' ends at byte " + std::to_string(file_.bytes().size()) +
                      " without its last record (the recorder was killed, or the file was cut)");
    }
    return has_chunk;
  }
  ByteReader reader(records.subspan(parsed_));
  auto head = reader.read<format::RecordHead>();
  if (!reader.ok() || head.size < sizeof head || head.size % 8 != 0 || head.size > records.size() - parsed_) {
    return damage("a record of size " + std::to_string(head.size) + " in the chunk");
  }
  Bytes record = records.subspan(parsed_, head.size);
  parsed_ += head.size;
  switch (head.type) {
    case format::RecordType::kRoundMark: {
      uint64_t time_ns = ByteReader(record).read<format::RoundMarkRecord>().time_ns;
      // Older than the mark, not as old.
      if (time_ns > 0) order_.release_up_to(time_ns - 1);
      return true;
    }
    case format::RecordType::kEnd:
      has_end_ = true;
      return true;
    default:
      JP_TRY(hold_record(record));
      return true;
  }
}

Status Recording::ChunkSource::hold_record(Bytes record) {
  switch (records_.decode(record, event_)) {
    case ChunkRecordDecoder::Outcome::kMalformed:
      return damage("a record in the chunk is shorter than its fields");
    case ChunkRecordDecoder::Outcome::kIgnored:
      return Nothing{};
    case ChunkRecordDecoder::Outcome::kEvent:
      break;
  }
  if (comes_first(event_, contents_)) return Nothing{};
  if (records_.was_32_bit()) count_shortfall("samples of 32-bit code");
  HeldRecord held{0, record, 0, chunk_};
  if (auto* piece = std::get_if<SideFileEvent>(&event_)) {
    // Copied between two sweeps: nothing in the rings depends on it being that early.
    held.time_ns = std::max(piece->time_ns, order_.last_time_ns());
  } else {
    std::visit(
        [&](const auto& some) {
          if constexpr (requires { some.time_ns; }) held.time_ns = some.time_ns;
        },
        event_);
  }
  order_.hold(held);
  return Nothing{};
}

const Event& Recording::ChunkSource::decode(const HeldRecord& record) {
  auto outcome = records_.decode(record.bytes, event_);
  JP_CHECK(outcome == ChunkRecordDecoder::Outcome::kEvent);
  return event_;
}

}  // namespace jitprof
