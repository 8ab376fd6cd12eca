// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "profiler/clock.h"
#include "profiler/kernel_image.h"
#include "profiler/process_snapshot.h"
#include "profiler/record_writers.h"

namespace jitprof {
namespace {

// A killed recorder loses what was in the rings and in the open chunk: these two together, less than a
// second.
constexpr uint64_t kSweepEvery_ns = 100'000'000;
constexpr uint64_t kChunkAge_ns = 500'000'000;
// Perf maps and the GDB interface give no times: code counts from the look before it was seen. So the looks
// are close together while there is something to see, as long as they take less than a fiftieth of a CPU.
constexpr uint64_t kLookEvery_ns = 10'000'000;
constexpr uint64_t kCompilesFor_ns = 1'000'000'000;
constexpr uint64_t kLookRest = 50;
// A record gets its time before it gets its place in the ring; a virtual CPU may be taken away in between.
// What is this much older than a sweep is taken for written.
constexpr uint64_t kSettle_ns = 100'000'000;

}  // namespace

Recorder::Recorder(RingSet rings, EventSet events, const SamplingPlan& plan, OutputFile output,
                   const std::vector<std::string>& command_line, const JitSetup& jit_setup, uint64_t begin_ns)
    : rings_(std::move(rings)),
      events_(std::move(events)),
      writer_(std::move(output)),
      copier_(events_, plan, writer_),
      modules_(writer_),
      side_files_(writer_, jit_setup),
      gdb_jit_(writer_),
      last_mark_ns_(begin_ns),
      next_sweep_ns_(begin_ns + kSweepEvery_ns) {
  writer_.begin();
  write_header(writer_, events_, plan, static_cast<uint32_t>(rings_.cpus.size()), command_line);
  write_vdso(writer_, begin_ns);
  // A recorder killed right away leaves a file that says what it is.
  writer_.close_chunks();
}

void Recorder::snapshot(const std::vector<uint32_t>& pids) {
  for (uint32_t pid : pids) {
    snapshot_process(pid, [this](Bytes record) {
      write_kernel_record(writer_, record, monotonic_ns(), format::KernelRecord::kSnapshot);
      // Who forked whom before is no news to those who watch processes.
      if (std::optional<Mapping> mapping = parse_mapping(record)) {
        mapping->time_ns = monotonic_ns();
        watch(*mapping);
      }
    });
  }
}

bool Recorder::wait(const std::vector<int>& wake, uint64_t until_ns) {
  std::vector<pollfd> files;
  for (int fd : wake) files.push_back({fd, POLLIN, 0});
  for (const PerfRing& ring : rings_.rings) files.push_back({ring.fd(), POLLIN, 0});
  uint64_t now = monotonic_ns();
  uint64_t deadline = std::min({until_ns, next_sweep_ns_, next_look_ns_, writer_.chunk_due_ns(kChunkAge_ns)});
  uint64_t left = deadline > now ? deadline - now : 0;
  timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  ppoll(files.data(), files.size(), &timeout, nullptr);
  bool is_woken = false;
  bool has_full_ring = false;
  for (size_t i = 0; i < files.size(); ++i)
    (i < wake.size() ? is_woken : has_full_ring) |= files[i].revents != 0;
  now = monotonic_ns();
  bool is_chunk_due = now >= writer_.chunk_due_ns(kChunkAge_ns);
  if (has_full_ring || is_chunk_due || now >= next_sweep_ns_) {
    sweep();
  } else if (now >= next_look_ns_) {
    look_for_code();
  }
  if (is_chunk_due) writer_.close_chunks();
  return is_woken;
}

void Recorder::sweep() {
  uint64_t start = monotonic_ns();
  next_sweep_ns_ = start + kSweepEvery_ns;
  for (PerfRing& ring : rings_.rings) {
    ring.start_sweep();
    for (Bytes record = ring.next(); !record.empty(); record = ring.next()) take(record);
  }
  look_for_code();
  if (!round_has_records_) return;
  if (copier_.saw_kernel() && !has_kernel_image_) {
    // As old as the last mark allows: so it is in order, and there before the sample that asked for it.
    write_kernel_image(writer_, last_mark_ns_);
    has_kernel_image_ = true;
  }
  last_mark_ns_ = std::max(last_mark_ns_, start - kSettle_ns);
  writer_.append(format::RecordType::kRoundMark, format::RoundMarkRecord{{}, last_mark_ns_});
  round_has_records_ = false;
}

void Recorder::look_for_code() {
  uint64_t start = monotonic_ns();
  bool has_news = side_files_.copy_new();
  has_news |= gdb_jit_.look();
  uint64_t end = monotonic_ns();
  if (has_news) compiles_until_ns_ = end + kCompilesFor_ns;
  next_look_ns_ =
      end < compiles_until_ns_ ? end + std::max(kLookEvery_ns, kLookRest * (end - start)) : kWithNextSweep;
}

void Recorder::take(Bytes record) {
  round_has_records_ = true;
  perf_event_header header;
  std::memcpy(&header, record.data(), sizeof header);
  if (header.type == PERF_RECORD_SAMPLE) {
    copier_.copy(record);
    return;
  }
  uint64_t time_ns = trailer_time(record);
  write_kernel_record(writer_, record, time_ns, 0);
  if (header.type == PERF_RECORD_LOST || header.type == PERF_RECORD_LOST_SAMPLES) {
    ByteReader reader(record.subspan(sizeof header));
    if (header.type == PERF_RECORD_LOST) reader.skip(8);  // the id
    lost_ += reader.u64();
  }
  if (std::optional<Mapping> mapping = parse_mapping(record)) {
    mapping->time_ns = time_ns;
    watch(*mapping);
  } else if (std::optional<TaskRecord> task = parse_task(record)) {
    task->time_ns = time_ns;
    side_files_.on_task(*task);
    gdb_jit_.on_task(*task);
  }
}

void Recorder::watch(const Mapping& mapping) {
  modules_.on_mapping(mapping);
  side_files_.on_mapping(mapping);
  gdb_jit_.on_mapping(mapping);
}

void Recorder::finish() {
  events_.disable();
  sweep();
  modules_.embed_unreachable();
  uint64_t now = monotonic_ns();
  // What was lost after the last record that could say so.
  if (uint64_t counted = events_.count_lost(); counted > lost_) {
    write_kernel_record(writer_, make_lost(counted - lost_), now, format::KernelRecord::kSnapshot);
    lost_ = counted;
  }
  writer_.append(format::RecordType::kEnd, format::EndRecord{{}, now, copier_.samples(), lost_});
  writer_.close_chunks();
}

}  // namespace jitprof
