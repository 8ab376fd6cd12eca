// SPDX-License-Identifier: Apache-2.0
#include "profiler/perf_data_source.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "profiler/damage.h"
#include "profiler/perf_data_format.h"

namespace jitprof {
namespace {

uint64_t time_of(const Event& event) {
  return std::visit(
      [](const auto& some) -> uint64_t {
        if constexpr (requires { some.time_ns; }) return some.time_ns;
        return 0;
      },
      event);
}

bool describes_recording(uint32_t type) {
  return type == perf_data::kHeaderAttr || type == perf_data::kEventUpdate ||
         type == perf_data::kHeaderFeature || type == perf_data::kHeaderBuildId;
}

Error aux_trace(const std::string& name) {
  return Error{"'" + name + "' holds a hardware (AUX) trace, which cannot be read: record samples instead"};
}

}  // namespace

Result<std::unique_ptr<Recording::Source>> Recording::PerfDataSource::open(MappedFile file,
                                                                           const std::string& name) {
  std::unique_ptr<PerfDataSource> source(new PerfDataSource(std::move(file), name));
  ByteReader reader(source->file_.bytes());
  reader.skip(8);
  if (reader.u64() == perf_data::kPipeHeaderSize) {
    JP_TRY(source->open_pipe());
  } else {
    JP_TRY(source->open_file());
  }
  source->described_.describe(source->header_);
  return std::unique_ptr<Source>(std::move(source));
}

Status Recording::PerfDataSource::open_file() {
  auto data = JP_TRY(described_.read_file_header(file_.bytes()));
  is_finished_ = data.is_finished;
  has_descriptions_ = data.has_descriptions;
  reader_.emplace(name_, file_.bytes(), data.begin, data.end, !is_finished_, order_.buffers());
  return Nothing{};
}

// The descriptions come first, as records; they must be known before anybody asks for the header.
Status Recording::PerfDataSource::open_pipe() {
  Bytes file = file_.bytes();
  reader_.emplace(name_, file, perf_data::kPipeHeaderSize, file.size(), false, order_.buffers());
  while (true) {
    Result<std::optional<PerfRecord>> record = reader_->next();
    // Damage is met again, and reported, when events are read.
    if (!record.ok() || !record.value()) return Nothing{};
    if (record.value()->type < perf_data::kFirstOfPerf) {
      first_ = record.value();
      return Nothing{};
    }
    JP_TRY(read_own_record(*record.value()));
  }
}

Result<std::optional<PerfRecord>> Recording::PerfDataSource::next_record() {
  if (first_) return std::exchange(first_, std::nullopt);
  return reader_->next();
}

Result<bool> Recording::PerfDataSource::read_record() {
  std::optional<PerfRecord> record = JP_TRY(next_record());
  if (!record) return end_of_records();
  file_.forget_before(record->offset);
  if (record->type >= perf_data::kFirstOfPerf) {
    JP_TRY(read_own_record(*record));
  } else {
    JP_TRY(hold_kernel_record(*record));
  }
  return true;
}

Result<bool> Recording::PerfDataSource::end_of_records() {
  if (!is_finished_) count_shortfall("perf.data not finished (perf was killed)");
  if (reader_->is_torn()) count_shortfall("torn last record");
  if (!has_descriptions_) {
    return Error{"'" + name_ + "' ends at offset " + std::to_string(file_.bytes().size()) +
                 ", inside its feature sections: the file was cut"};
  }
  return false;
}

Status Recording::PerfDataSource::read_own_record(const PerfRecord& record) {
  switch (record.type) {
    case perf_data::kFinishedRound:
      order_.release_up_to(round_newest_ns_);
      round_newest_ns_ = newest_ns_;
      return Nothing{};
    case perf_data::kAuxTraceInfo:
    case perf_data::kAuxTraceRecord:
      return aux_trace(name_);
    case perf_data::kHeaderTracingData: {
      ByteReader reader(record.bytes);
      reader.skip(sizeof(perf_event_header));
      reader_->skip(reader.u32());
      return Nothing{};
    }
    default:
      if (!describes_recording(record.type)) return Nothing{};
      JP_TRY(described_.apply_record(record.bytes, record.offset));
      if (record.type == perf_data::kHeaderAttr) described_.describe(header_);
      return Nothing{};
  }
}

Status Recording::PerfDataSource::hold_kernel_record(const PerfRecord& record) {
  const PerfDataEvents& events = described_.events();
  std::optional<uint32_t> event = events.find(record.bytes);
  if (!event) {
    if (events.size() == 0)
      return damage_at(name_, record.offset, "a record comes before any event is described");
    count_shortfall("records of an unknown event");
    return Nothing{};
  }
  switch (decoder_.decode(record.bytes, events.layout(*event), event_)) {
    case KernelRecordDecoder::Outcome::kMalformed:
      return damage_at(name_, record.offset,
                       "a record of type " + std::to_string(record.type) + " is shorter than its fields");
    case KernelRecordDecoder::Outcome::kAuxTrace:
      return aux_trace(name_);
    case KernelRecordDecoder::Outcome::kUnknown:
      count_shortfall("records of unknown kind");
      return Nothing{};
    case KernelRecordDecoder::Outcome::kIgnored:
      return Nothing{};
    case KernelRecordDecoder::Outcome::kEvent:
      break;
  }
  uint64_t time_ns = time_of(event_);
  if (std::holds_alternative<Sample>(event_)) {
    if (!events.sampled_index(*event)) {
      count_shortfall("samples of an event that takes none");
      return Nothing{};
    }
    if (decoder_.was_32_bit()) count_shortfall("samples of 32-bit code");
  } else if (record.type == PERF_RECORD_LOST) {
    lost_in_rings_ += std::get<LostEvent>(event_).count;
  }
  newest_ns_ = std::max(newest_ns_, time_ns);
  order_.hold({time_ns, record.bytes, *event, record.buffer});
  return Nothing{};
}

const Event& Recording::PerfDataSource::decode(const HeldRecord& record) {
  const PerfDataEvents& events = described_.events();
  auto outcome = decoder_.decode(record.bytes, events.layout(record.event), event_);
  JP_CHECK(outcome == KernelRecordDecoder::Outcome::kEvent);
  if (auto* sample = std::get_if<Sample>(&event_)) {
    sample->event = *events.sampled_index(record.event);
  } else if (auto* map = std::get_if<MapEvent>(&event_)) {
    // perf collects build-ids at its end, by path, for files with samples only.
    if (map->build_id.empty()) map->build_id = described_.build_id_of(map->path);
  } else if (auto* lost = std::get_if<LostEvent>(&event_)) {
    uint32_t type = ByteReader(record.bytes).u32();
    if (type == PERF_RECORD_LOST_SAMPLES && lost->time_ns == 0) lost->count = unseen_losses(lost->count);
  }
  return event_;
}

// At its end perf (6.1 on) writes LOST_SAMPLES, without a time, from counters in the kernel. They count again
// what LOST records in the rings have said, and what was lost behind the last of those: only that is new.
uint64_t Recording::PerfDataSource::unseen_losses(uint64_t stated) {
  lost_by_counters_ += stated;
  uint64_t known = lost_in_rings_ + lost_unseen_;
  uint64_t unseen = lost_by_counters_ > known ? lost_by_counters_ - known : 0;
  lost_unseen_ += unseen;
  return unseen;
}

}  // namespace jitprof
