// SPDX-License-Identifier: Apache-2.0
#include "profiler/perf_data_header.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/damage.h"
#include "profiler/perf_data_format.h"

namespace jitprof {
namespace {

// perf_event_attr as Linux 2.6.32 had it (PERF_ATTR_SIZE_VER0).
constexpr uint64_t kMinAttrSize = PERF_ATTR_SIZE_VER0;

// A string of a feature section: its length, the bytes, NULs.
std::string_view read_text(ByteReader& reader) {
  Bytes bytes = reader.take(reader.u32());
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

// A part of the file; empty when it is not wholly inside.
Bytes part_of(Bytes file, uint64_t offset, uint64_t size) {
  ByteReader reader(file);
  reader.seek(offset);
  return reader.take(size);
}

}  // namespace

Result<PerfDataHeader::DataSection> PerfDataHeader::read_file_header(Bytes file) {
  ByteReader reader(file);
  auto head = reader.read<perf_data::FileHeader>();
  if (!reader.ok() || head.size < sizeof head) {
    return damage_at(name_, 8,
                     file.size() < sizeof head ? "the file ends inside its header"
                                               : "header of size " + std::to_string(head.size));
  }
  auto has = [&](perf_data::Feature bit) { return (head.features[bit / 64] >> (bit % 64) & 1) != 0; };
  if (has(perf_data::kAuxTrace)) {
    return Error{"'" + name_ +
                 "' holds a hardware (AUX) trace, which cannot be read: record samples instead"};
  }
  if (has(perf_data::kDirFormat)) {
    return Error{"'" + name_ + "' is a part of a perf.data directory: record without --threads"};
  }
  JP_TRY(read_attrs(file, head.attr_size, head.attrs.offset, head.attrs.size));
  if (head.data.offset > file.size() || head.data.size > UINT64_MAX - head.data.offset) {
    return damage_at(
        name_, offsetof(perf_data::FileHeader, data),
        "the data begins at offset " + std::to_string(head.data.offset) + ", beyond the end of the file");
  }
  DataSection data{head.data.offset, file.size(), head.data.size != 0};
  if (data.is_finished) {
    data.end = head.data.offset + head.data.size;
    data.has_descriptions = read_features(file, data.end, head.features);
  }
  JP_TRY(check());
  return data;
}

Status PerfDataHeader::read_attrs(Bytes file, uint64_t attr_size, uint64_t offset, uint64_t size) {
  constexpr uint64_t kPlace = offsetof(perf_data::FileHeader, attr_size);
  if (attr_size < kMinAttrSize + sizeof(perf_data::Section) || attr_size > size) {
    return damage_at(name_, kPlace, "event descriptions of size " + std::to_string(attr_size));
  }
  Bytes attrs = part_of(file, offset, size);
  if (attrs.empty()) return damage_at(name_, kPlace, "the event descriptions lie outside the file");
  for (ByteReader reader(attrs); reader.remaining() >= attr_size;) {
    perf_event_attr attr = RecordLayout::read_attr(reader.take(attr_size - sizeof(perf_data::Section)));
    auto ids = reader.read<perf_data::Section>();
    if (!events_.add(attr, part_of(file, ids.offset, ids.size))) {
      return damage_at(name_, offset, "more events than perf writes");
    }
  }
  return Nothing{};
}

bool PerfDataHeader::read_features(Bytes file, uint64_t table, const uint64_t (&bits)[4]) {
  ByteReader reader(file);
  reader.seek(table);
  bool is_whole = true;
  for (uint32_t feature = 0; feature < 256; ++feature) {
    if ((bits[feature / 64] >> (feature % 64) & 1) == 0) continue;
    auto section = reader.read<perf_data::Section>();
    Bytes payload = part_of(file, section.offset, section.size);
    if (!reader.ok() || payload.size() != section.size) {
      is_whole = false;
    } else {
      apply_feature(feature, payload);
    }
  }
  return is_whole;
}

void PerfDataHeader::apply_feature(uint32_t feature, Bytes payload) {
  ByteReader reader(payload);
  switch (feature) {
    case perf_data::kBuildId:
      return apply_build_ids(reader);
    case perf_data::kHostName:
      header_.host = read_text(reader);
      return;
    case perf_data::kOsRelease:
      header_.kernel_release = read_text(reader);
      return;
    case perf_data::kArch:
      header_.architecture = read_text(reader);
      return;
    case perf_data::kCpuCount:
      reader.skip(4);  // those that could be there
      header_.cpu_count = reader.u32();
      return;
    case perf_data::kCommandLine: {
      header_.command_line.clear();
      uint32_t count = reader.u32();
      for (uint32_t i = 0; i < count && reader.ok(); ++i)
        header_.command_line.emplace_back(read_text(reader));
      return;
    }
    case perf_data::kEventDesc:
      return apply_event_desc(reader);
    case perf_data::kCompressed:
      reader.skip(4);  // version
      compression_ = reader.u32();
      return;
    case perf_data::kClockData:
      reader.skip(8);  // version, clock id
      header_.start_wall_ns = reader.u64();
      header_.start_ns = reader.u64();
      return;
    default:
      return;
  }
}

void PerfDataHeader::apply_build_ids(ByteReader reader) {
  while (reader.remaining() >= sizeof(perf_event_header)) {
    uint64_t start = reader.offset();
    uint16_t size = ByteReader(reader).read<perf_event_header>().size;
    Bytes record = reader.take(size);
    if (record.size() < sizeof(perf_event_header) || reader.offset() == start) return;
    apply_build_id(record);
  }
}

void PerfDataHeader::apply_build_id(Bytes record) {
  constexpr uint16_t kHasSize = 1 << 15;  // PERF_RECORD_MISC_BUILD_ID_SIZE
  ByteReader reader(record);
  uint16_t misc = reader.read<perf_event_header>().misc;
  reader.skip(4);  // pid
  Bytes bytes = reader.take(20);
  uint8_t size = reader.u8();
  reader.skip(3);
  std::string path(reader.c_string());
  if (!reader.ok()) return;
  BuildId build_id(bytes.first(misc & kHasSize ? std::min<size_t>(size, bytes.size()) : bytes.size()));
  auto [entry, is_new] = build_ids_.emplace(path, build_id);
  // The path was written anew during the recording: which of the two a mapping had, nobody can tell.
  if (!is_new && entry->second != build_id) entry->second = {};
}

void PerfDataHeader::apply_event_desc(ByteReader reader) {
  uint32_t count = reader.u32();
  uint32_t attr_size = reader.u32();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    reader.skip(attr_size);
    uint32_t id_count = reader.u32();
    std::string_view name = read_text(reader);
    Bytes ids = reader.take(uint64_t{8} * id_count);
    if (!reader.ok()) return;
    std::optional<uint64_t> id;
    if (!ids.empty()) id = ByteReader(ids).u64();
    events_.rename(id, i, name);
  }
}

Status PerfDataHeader::apply_record(Bytes record, uint64_t offset) {
  ByteReader reader(record);
  auto head = reader.read<perf_event_header>();
  switch (head.type) {
    case perf_data::kHeaderAttr: {
      uint32_t size =
          ByteReader(record.subspan(std::min(record.size(), sizeof head + 4))).u32();  // attr.size
      if (size == 0) size = kMinAttrSize;
      Bytes attr = reader.take(size);
      if (attr.size() < kMinAttrSize)
        return damage_at(name_, offset, "event of size " + std::to_string(size));
      if (!events_.add(RecordLayout::read_attr(attr), reader.take(reader.remaining()))) {
        return damage_at(name_, offset, "more events than perf writes");
      }
      return check();
    }
    case perf_data::kEventUpdate: {
      constexpr uint64_t kNameUpdate = 2;
      uint64_t kind = reader.u64();
      uint64_t id = reader.u64();
      if (kind == kNameUpdate) events_.rename(id, UINT32_MAX, reader.c_string());
      break;
    }
    case perf_data::kHeaderFeature: {
      uint64_t feature = reader.u64();
      if (reader.ok() && feature < 256) apply_feature(feature, reader.take(reader.remaining()));
      return check();
    }
    case perf_data::kHeaderBuildId:
      apply_build_id(record);
      break;
    default:
      break;
  }
  return Nothing{};
}

void PerfDataHeader::describe(RecordingHeader& header) {
  header = header_;
  header.format = RecordingHeader::Format::kPerfData;
  header.version = 2;
  events_.describe(header);
}

Status PerfDataHeader::check() const {
  const std::string& architecture = header_.architecture;
  if ((!architecture.empty() && architecture != "x86_64") || events_.has_foreign_registers()) {
    return Error{"'" + name_ + "' was recorded on " +
                 (architecture.empty() || architecture == "x86_64" ? "another architecture" : architecture) +
                 ": only recordings of x86_64 can be read"};
  }
  if (compression_ != kZstd) {
    return Error{"'" + name_ + "' is compressed in a way that is not known (" + std::to_string(compression_) +
                 "): only zstd can be read"};
  }
  return Nothing{};
}

BuildId PerfDataHeader::build_id_of(const std::string& path) const {
  auto found = build_ids_.find(path);
  return found == build_ids_.end() ? BuildId() : found->second;
}

}  // namespace jitprof
