// SPDX-License-Identifier: Apache-2.0

// The bytes of a recording as FORMAT.md has them, and the pieces that write them.

#include "profiler/recording_writer.h"

#include <linux/perf_event.h>
#include <zlib.h>

#include <bit>
#include <cstring>

#include "profiler/event_name.h"
#include "profiler/sample_copier.h"
#include "profiler/side_band.h"
#include "tests/catch.h"
#include "tests/profiler/perf_data_builder.h"
#include "tests/profiler/recorder_programs.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

struct RawRecord {
  format::RecordType type;
  std::string bytes;
};

// Takes a file apart with nothing but the structs of format.h and zstd; one list of records per chunk.
std::vector<std::vector<RawRecord>> take_apart(const std::string& file) {
  std::vector<std::vector<RawRecord>> chunks;
  format::FileHeader file_header;
  REQUIRE(file.size() >= sizeof file_header);
  std::memcpy(&file_header, file.data(), sizeof file_header);
  CHECK(std::string(file_header.magic, 8) == "JITPROF\n");
  CHECK(file_header.version == 1);
  CHECK(file_header.size == 16);
  size_t at = 16;
  ChunkDecoder decoder;
  while (at < file.size()) {
    format::ChunkHeader header;
    REQUIRE(file.size() - at >= sizeof header);
    std::memcpy(&header, file.data() + at, sizeof header);
    CHECK(file.compare(at, 4, "JPCH") == 0);
    const auto* raw = reinterpret_cast<const unsigned char*>(file.data() + at);
    CHECK(header.header_crc == crc32(0, raw, 20));
    at += sizeof header;
    REQUIRE(file.size() - at >= header.stored_size);
    CHECK(header.stored_crc == crc32(0, raw + sizeof header, header.stored_size));
    Bytes stored = std::as_bytes(std::span(file.data() + at, header.stored_size));
    at += header.stored_size;
    Result<OwnedBytes> records = decoder.decode(header, stored);
    REQUIRE(records.ok());
    REQUIRE(records.value().size() == header.raw_size);
    std::vector<RawRecord>& chunk = chunks.emplace_back();
    std::string text(reinterpret_cast<const char*>(records.value().data()), records.value().size());
    for (size_t place = 0; place < text.size();) {
      format::RecordHead head;
      REQUIRE(text.size() - place >= sizeof head);
      std::memcpy(&head, text.data() + place, sizeof head);
      REQUIRE(head.size % 8 == 0);
      REQUIRE(head.size >= 8);
      REQUIRE(head.size <= text.size() - place);
      chunk.push_back({head.type, text.substr(place, head.size)});
      place += head.size;
    }
  }
  return chunks;
}

RecordingWriter open_writer(const TempDir& folder) {
  Result<OutputFile> output = OutputFile::prepare(folder.file("x.data"));
  REQUIRE(output.ok());
  REQUIRE(output.value().commit().ok());
  return RecordingWriter(std::move(output.value()));
}

// A sample as the ring has it in stack mode without kernel chain.
std::string ring_sample(uint64_t abi, const std::string& stack, uint64_t asked) {
  ByteString body;
  body.u64(77).u64(0x401000).u32(5).u32(6).u64(1234).u32(1).u32(0).u64(1001001);
  body.u64(abi);
  for (uint64_t number = 0; abi != 0 && number < 20; ++number) body.u64(number == 7 ? 0x7ffe0000 : number);
  body.u64(asked);
  if (asked != 0) {
    // What the kernel leaves behind the stack is whatever was in the ring.
    body.raw(stack).raw(std::string(asked - stack.size(), 'x')).u64(stack.size());
  }
  return ByteString()
      .u32(PERF_RECORD_SAMPLE)
      .u16(PERF_RECORD_MISC_USER)
      .u16(8 + body.text().size())
      .raw(body.text())
      .text();
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

SamplingPlan stack_plan() {
  SamplingPlan plan;
  plan.frequency = 999;
  plan.call_graph = format::CallGraph::kStack;
  plan.stack_size = 64;
  return plan;
}

}  // namespace

TEST_CASE("records come back from chunks as they were appended") {
  TempDir folder;
  constexpr uint64_t kSize = 1 << 20;
  {
    RecordingWriter writer = open_writer(folder);
    writer.begin();
    // More than a chunk holds: a record never spans two.
    for (int i = 0; i < 20; ++i) {
      std::byte* place = writer.append(format::RecordType::kSideFile, kSize + 3);
      std::memset(place + 8, 'a' + i, kSize + 3 - 8);
    }
    writer.append(format::RecordType::kEnd, format::EndRecord{{}, 1, 2, 3});
    writer.close_chunks();
    writer.close_chunks();
    CHECK(!writer.failure());
  }
  auto chunks = take_apart(read_file(folder.file("x.data")));
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].size() == 15);
  REQUIRE(chunks[1].size() == 6);
  CHECK(chunks[0][3].bytes.substr(8) == std::string(kSize - 5, 'd') + std::string(5, '\0'));
  CHECK(chunks[1][5].type == format::RecordType::kEnd);
}

TEST_CASE("a real recording is header, records with round marks in rising order, and an end") {
  TempDir folder;
  RecordOptions options;
  options.command = {spin_program(folder), "0.6"};
  options.output = folder.file("out.data");
  RecordSummary summary = must_record(options);
  auto chunks = take_apart(read_file(options.output));
  REQUIRE(!chunks.empty());
  CHECK(chunks.front().front().type == format::RecordType::kHeader);
  CHECK(chunks.back().back().type == format::RecordType::kEnd);
  uint64_t samples = 0;
  uint64_t mark = 0;
  for (const auto& chunk : chunks) {
    for (const RawRecord& record : chunk) {
      uint64_t time = 0;
      std::memcpy(&time, record.bytes.data() + 8, 8);
      if (record.type == format::RecordType::kSample) {
        ++samples;
        CHECK(time >= mark);
      } else if (record.type == format::RecordType::kRoundMark) {
        CHECK(time >= mark);
        mark = time;
      }
    }
  }
  CHECK(samples == summary.samples);
}

TEST_CASE("a full or vanished output is a failure that stays") {
  Result<OutputFile> output = OutputFile::prepare("/dev/full");
  REQUIRE(output.ok());
  REQUIRE(output.value().commit().ok());
  RecordingWriter writer(std::move(output.value()));
  writer.begin();
  REQUIRE(writer.failure());
  CHECK(writer.failure()->message == "cannot write '/dev/full': No space left on device");
  writer.append(format::RecordType::kEnd, format::EndRecord{});
  writer.close_chunks();
  CHECK(writer.bytes_written() == 0);
}

TEST_CASE("a sample's stack is cut at what the kernel copied") {
  TempDir folder;
  SamplingPlan plan = stack_plan();
  EventSet events({{parse_event_name("cpu-clock:u").value(), false}}, plan);
  {
    RecordingWriter writer = open_writer(folder);
    writer.begin();
    SampleCopier copier(events, plan, writer);
    copier.copy(bytes_of(ring_sample(PERF_SAMPLE_REGS_ABI_64, "0123456789abcdef", 64)));
    copier.copy(bytes_of(ring_sample(PERF_SAMPLE_REGS_ABI_NONE, "", 0)));
    copier.copy(bytes_of(ring_sample(PERF_SAMPLE_REGS_ABI_32, "01234567", 64)));
    // Cut short and with impossible sizes: no sample, and nothing read outside.
    std::string whole = ring_sample(PERF_SAMPLE_REGS_ABI_64, "01234567", 64);
    for (size_t size = 8; size < whole.size(); ++size) copier.copy(bytes_of(whole.substr(0, size)));
    CHECK(copier.samples() == 3);
    writer.close_chunks();
  }
  auto chunks = take_apart(read_file(folder.file("x.data")));
  REQUIRE(chunks.size() == 1);
  REQUIRE(chunks[0].size() == 3);
  format::SampleRecord record;
  std::memcpy(&record, chunks[0][0].bytes.data(), sizeof record);
  CHECK(record.time_ns == 1234);
  CHECK(record.pid == 5);
  CHECK(record.tid == 6);
  CHECK(record.ip == 0x401000);
  CHECK(record.register_mask == kUserRegisterMask);
  format::StackHead stack;
  std::memcpy(&stack, chunks[0][0].bytes.data() + sizeof record + 8 * 20, sizeof stack);
  CHECK(stack.start == 0x7ffe0000);
  CHECK(stack.copied == 16);
  CHECK(stack.asked == 64);
  CHECK(chunks[0][0].bytes.substr(sizeof record + 8 * 20 + sizeof stack) == "0123456789abcdef");

  std::memcpy(&record, chunks[0][1].bytes.data(), sizeof record);
  CHECK(record.register_mask == 0);
  CHECK(record.stack_count == 0);
  std::memcpy(&record, chunks[0][2].bytes.data(), sizeof record);
  CHECK(record.register_mask == 0);
  CHECK(record.flags == format::SampleRecord::kUser32Bit);
}

TEST_CASE("records made for a snapshot read like the kernel's") {
  Mapping mapping;
  mapping.pid = 3;
  mapping.tid = 4;
  mapping.start = 0x1000;
  mapping.size = 0x2000;
  mapping.offset = 0x3000;
  mapping.device_major = 8;
  mapping.device_minor = 1;
  mapping.inode = 99;
  mapping.path = "/usr/bin/x";
  std::vector<std::byte> bytes = make_mapping(mapping, PERF_RECORD_MISC_USER);
  CHECK(bytes.size() % 8 == 0);
  std::optional<Mapping> parsed = parse_mapping(bytes);
  REQUIRE(parsed);
  CHECK(parsed->start == 0x1000);
  CHECK(parsed->inode == 99);
  CHECK(parsed->path == "/usr/bin/x");
  CHECK(!parse_mapping(Bytes(bytes).first(60)));
  CHECK(!parsed->may_hold_jit_code());
  mapping.path = "//anon";
  CHECK(mapping.may_hold_jit_code());
  mapping.path = "/memfd:doublemapper (deleted)";
  CHECK(mapping.may_hold_jit_code());

  std::optional<TaskRecord> fork = parse_task(make_fork(1, 2, 3, 4, 5));
  REQUIRE(fork);
  CHECK(fork->pid == 1);
  CHECK(fork->tid == 2);
  CHECK(fork->parent_pid == 3);
  CHECK(fork->parent_tid == 4);
}
