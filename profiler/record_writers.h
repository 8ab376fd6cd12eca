// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "profiler/event.h"
#include "profiler/event_set.h"
#include "profiler/recording_writer.h"

namespace jitprof {

// The records of a recording that are not copied from a ring, each written whole.

void write_header(RecordingWriter& writer, const EventSet& events, const SamplingPlan& plan,
                  uint32_t cpu_count, const std::vector<std::string>& command_line);

// `record` is one perf record; flags are format::KernelRecord's.
void write_kernel_record(RecordingWriter& writer, Bytes record, uint64_t time_ns, uint32_t flags);

// Cuts event.bytes into pieces if need be.
void write_side_file(RecordingWriter& writer, const SideFileEvent& event);

void write_module(RecordingWriter& writer, const ModuleEvent& event);

}  // namespace jitprof
