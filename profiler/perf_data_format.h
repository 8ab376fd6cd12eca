// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The parts of perf.data that are no kernel records: tools/perf/Documentation/perf.data-file-format.txt.
namespace jitprof::perf_data {

struct Section {
  uint64_t offset;
  uint64_t size;
};

struct FileHeader {
  char magic[8];       // "PERFILE2"
  uint64_t size;       // of this header; 16 in pipe mode, where records follow at once
  uint64_t attr_size;  // perf_event_attr of the writing perf and a Section of ids
  Section attrs;
  Section data;
  Section event_types;
  uint64_t features[4];
};
static_assert(sizeof(FileHeader) == 104);
inline constexpr uint64_t kPipeHeaderSize = 16;

// Bits of FileHeader::features; the sections follow the data in order of the bits.
enum Feature : uint32_t {
  kBuildId = 2,
  kHostName = 3,
  kOsRelease = 4,
  kArch = 6,
  kCpuCount = 7,
  kCommandLine = 11,
  kEventDesc = 12,
  kAuxTrace = 18,
  kDirFormat = 24,
  kCompressed = 27,
  kClockData = 29,
};

// Records that perf itself writes between those of the kernel.
enum RecordType : uint32_t {
  kFirstOfPerf = 64,
  kHeaderAttr = 64,
  kHeaderTracingData = 66,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kAuxTraceInfo = 70,
  kAuxTraceRecord = 71,
  kEventUpdate = 78,
  kHeaderFeature = 80,
  kCompressedRecord = 81,
  kCompressedRecord2 = 83,  // perf 6.16: with the size before it was padded to 8
};

}  // namespace jitprof::perf_data
