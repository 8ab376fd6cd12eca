// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/mapped_file.h"
#include "profiler/kernel_record.h"
#include "profiler/perf_data_header.h"
#include "profiler/perf_record_reader.h"
#include "profiler/source.h"

namespace jitprof {

// A perf.data as perf 6.1 writes it, as a file or in pipe mode. perf marks the ends of its sweeps over the
// rings (FINISHED_ROUND): at each, everything up to the newest time of the sweep before is complete.
class Recording::PerfDataSource final : public Recording::Source {
 public:
  static Result<std::unique_ptr<Source>> open(MappedFile file, const std::string& name);

 private:
  PerfDataSource(MappedFile file, const std::string& name)
      : file_(std::move(file)), name_(name), described_(name) {}

  Status open_file();
  Status open_pipe();
  Result<bool> read_record() override;
  const Event& decode(const HeldRecord& record) override;

  Result<std::optional<PerfRecord>> next_record();
  Status read_own_record(const PerfRecord& record);
  Status hold_kernel_record(const PerfRecord& record);
  Result<bool> end_of_records();
  uint64_t unseen_losses(uint64_t stated);

  MappedFile file_;
  std::string name_;
  PerfDataHeader described_;
  std::optional<PerfRecordReader> reader_;
  std::optional<PerfRecord> first_;  // the kernel's first record in a pipe, met while opening it
  bool is_finished_ = true;
  bool has_descriptions_ = true;

  KernelRecordDecoder decoder_;
  Event event_;
  uint64_t newest_ns_ = 0;         // time of the newest record so far,
  uint64_t round_newest_ns_ = 0;   // and of all up to the last FINISHED_ROUND
  uint64_t lost_in_rings_ = 0;     // sum over LOST records read
  uint64_t lost_by_counters_ = 0;  // sum of what perf read from the kernel's counters at the end
  uint64_t lost_unseen_ = 0;       // the part of the latter handed out
};

}  // namespace jitprof
