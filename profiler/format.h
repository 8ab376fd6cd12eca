// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The on-disk structs of a recording of our own; FORMAT.md says what follows each and why. Little endian, no
// struct has padding, every record starts and ends at a multiple of 8 within its chunk.
namespace jitprof::format {

inline constexpr char kMagic[8] = {'J', 'I', 'T', 'P', 'R', 'O', 'F', '\n'};
inline constexpr uint32_t kVersion = 1;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t size;  // of this header: the first chunk starts here
};
static_assert(sizeof(FileHeader) == 16);

inline constexpr uint32_t kChunkMagic = 0x4843504a;  // "JPCH"
// A chunk's records never take more than this, so a reader may allocate what a chunk header says. 4 MiB would
// be 10 to 15 % larger in all for stacks of 20 KB: each chunk stores every thread's stack afresh.
inline constexpr uint32_t kMaxChunkBytes = 16u << 20;
// A file is cut into pieces of at most this many bytes.
inline constexpr uint32_t kMaxSidePiece = 1u << 20;

struct ChunkHeader {
  // Some record tells of a module's file: a module record, or a side file that is the vdso or a module's
  // image.
  static constexpr uint32_t kHasModules = 1;
  // It holds nothing but side files of code made at run time, and no others do.
  static constexpr uint32_t kIsJitFiles = 2;
  uint32_t magic;
  uint32_t contents;     // flags; a reader ignores those it does not know
  uint32_t stored_size;  // of the zstd frame that follows
  uint32_t raw_size;     // of the records in it
  uint32_t stored_crc;   // crc32 (zlib's) of the zstd frame
  uint32_t header_crc;   // crc32 of the five fields above
};
static_assert(sizeof(ChunkHeader) == 24);

enum class RecordType : uint32_t {
  kHeader = 1,
  kKernel = 2,
  kSample = 3,
  kRoundMark = 4,
  kSideFile = 5,
  kModule = 6,
  kEnd = 7,
};

struct RecordHead {
  RecordType type;
  uint32_t size;  // with this head and the padding at the end; a multiple of 8
};
static_assert(sizeof(RecordHead) == 8);

enum class CallGraph : uint32_t { kNone = 0, kFramePointer = 1, kStack = 2 };

struct HeaderRecord {
  RecordHead head;
  uint64_t start_ns;       // CLOCK_MONOTONIC and
  uint64_t start_wall_ns;  // CLOCK_REALTIME at one moment
  uint64_t stack_size;     // bytes asked per sample
  uint32_t clock_id;       // 1: CLOCK_MONOTONIC
  uint32_t cpu_count;
  CallGraph call_graph;
  uint32_t event_count;
  uint32_t argument_count;
  uint32_t reserved;
  // EventHead with what follows it × event_count, then Texts: architecture, host, kernel release, each
  // argument.
};
static_assert(sizeof(HeaderRecord) == 56);

struct EventHead {
  uint32_t attr_size;  // bytes of perf_event_attr as this kernel's header has it, a multiple of 8
  uint32_t id_count;
  // attr, ids (8 bytes each), Text: name.
};
static_assert(sizeof(EventHead) == 8);

// `size` bytes follow (no NUL), then zeros up to a multiple of 8 counted from the start of `size`.
struct Text {
  uint32_t size;
};
static_assert(sizeof(Text) == 4);

struct KernelRecord {
  // Written by the recorder, not the kernel: state that was there before the recording began. No sample_id
  // trailer.
  static constexpr uint32_t kSnapshot = 1;
  RecordHead head;
  uint64_t time_ns;
  uint32_t event;  // index of the event whose attr decodes the record's sample_id trailer
  uint32_t flags;
  // One record as in the perf ring: perf_event_header and its body.
};
static_assert(sizeof(KernelRecord) == 24);

struct SampleRecord {
  static constexpr uint32_t kInKernel = 1;   // ip is kernel code
  static constexpr uint32_t kUser32Bit = 2;  // the thread ran 32-bit code; no registers are kept
  RecordHead head;
  uint64_t time_ns;
  uint32_t pid;
  uint32_t tid;
  uint32_t cpu;
  uint32_t event;
  uint64_t period;
  uint64_t ip;
  uint64_t register_mask;  // bits in perf's numbering (PERF_REG_X86_*); 0 when none were recorded
  uint32_t flags;
  uint32_t kernel_chain_count;
  uint32_t user_chain_count;
  uint32_t stack_count;  // 0 to 2
  // u64 × popcount(register_mask) from the lowest bit up; u64 × kernel_chain_count; u64 × user_chain_count
  // (both leaf first, PERF_CONTEXT_* taken out); StackHead × stack_count; then each stack's bytes.
};
static_assert(sizeof(SampleRecord) == 72);

struct StackHead {
  uint64_t start;
  uint64_t copied;  // bytes in the record; those of the next stack start at the next multiple of 8
  uint64_t asked;
};
static_assert(sizeof(StackHead) == 24);

// Every kernel record and sample older than this is in the file by now.
struct RoundMarkRecord {
  RecordHead head;
  uint64_t time_ns;
};
static_assert(sizeof(RoundMarkRecord) == 16);

struct SideFileRecord {
  RecordHead head;
  uint64_t time_ns;
  uint32_t kind;  // SideFileKind
  uint32_t pid;
  uint64_t device;
  uint64_t inode;
  uint64_t offset;
  uint64_t byte_count;
  // Text: path; the bytes, padded to 8; SideFileTail.
};
static_assert(sizeof(SideFileRecord) == 56);

// Older recorders wrote none: all zero.
struct SideFileTail {
  uint64_t previous_look_ns;
  uint64_t whole_size;
};
static_assert(sizeof(SideFileTail) == 16);

struct ModuleRecord {
  RecordHead head;
  uint32_t device_major;
  uint32_t device_minor;
  uint64_t inode;
  uint32_t load_count;
  uint32_t reserved;
  // ModuleLoad × load_count, Text: path, Text: the bytes of the build-id.
};
static_assert(sizeof(ModuleRecord) == 32);

struct ModuleLoad {
  uint64_t offset;
  uint64_t start;
  uint64_t file_size;
  uint64_t memory_size;
  uint32_t flags;  // PF_*
  uint32_t reserved;
};
static_assert(sizeof(ModuleLoad) == 40);

struct EndRecord {
  RecordHead head;
  uint64_t time_ns;
  uint64_t samples;
  uint64_t lost;
};
static_assert(sizeof(EndRecord) == 32);

constexpr uint64_t padded(uint64_t size) { return (size + 7) & ~uint64_t{7}; }

}  // namespace jitprof::format
