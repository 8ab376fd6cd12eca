// SPDX-License-Identifier: Apache-2.0

// Recordings of our own put together record by record (FORMAT.md).

#include <linux/perf_event.h>
#include <time.h>

#include <algorithm>

#include "profiler/chunk_codec.h"
#include "profiler/format.h"
#include "tests/catch.h"
#include "tests/profiler/perf_data_builder.h"
#include "tests/profiler/read_recording.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

using Lines = std::vector<std::string>;

std::string record(format::RecordType type, const std::string& body) {
  std::string padded = ByteString().raw(body).pad_to(8).text();
  return ByteString().put(type).u32(8 + padded.size()).raw(padded).text();
}

std::string text(std::string_view value) {
  return ByteString().u32(value.size()).raw(value).pad_to(8).text();
}

std::string header_record(const std::string& architecture = "x86_64") {
  ByteString body;
  body.u64(1000)
      .u64(2000)
      .u64(32768)
      .u32(CLOCK_MONOTONIC)
      .u32(4)
      .put(format::CallGraph::kStack)
      .u32(1)
      .u32(2)
      .u32(0);
  body.u32(sizeof(perf_event_attr)).u32(1).put(plain_attr()).u64(77).raw(text("cpu-clock"));
  body.raw(text(architecture) + text("box") + text("6.1.0") + text("sleep") + text("1"));
  return record(format::RecordType::kHeader, body.text());
}

std::string sample_record(uint64_t time_ns, uint32_t event = 0) {
  ByteString body;
  body.u64(time_ns).u32(7).u32(8).u32(1).u32(event).u64(1000).u64(0xabc);
  body.u64(0x180).u32(format::SampleRecord::kInKernel).u32(1).u32(0).u32(2);  // rsp and rip, one kernel pc,
                                                                              // two stacks
  body.u64(0x7000).u64(0x1234).u64(0xffff);
  body.u64(0x7000).u64(5).u64(64).u64(0x9000).u64(8).u64(8);
  body.raw("stack").pad_to(8).raw("12345678");
  return record(format::RecordType::kSample, body.text());
}
std::string sample_line(uint64_t time_ns) {
  return "sample " + std::to_string(time_ns) +
         " 7/8 cpu1 event0 period 1000 ip abc kernel k:ffff rsp=7000 rip=1234 stack 7000+5/64 stack 9000+8/8";
}

std::string kernel_record(uint64_t time_ns, uint32_t flags, const std::string& perf_bytes) {
  return record(format::RecordType::kKernel,
                ByteString().u64(time_ns).u32(0).u32(flags).raw(perf_bytes).text());
}

std::string mark(uint64_t time_ns) {
  return record(format::RecordType::kRoundMark, ByteString().u64(time_ns).text());
}
std::string end_record() {
  return record(format::RecordType::kEnd, ByteString().u64(900).u64(2).u64(0).text());
}

std::string chunk(const std::string& records, uint32_t contents = format::ChunkHeader::kHasModules) {
  ChunkEncoder encoder;
  Bytes bytes = encoder.encode(std::as_bytes(std::span(records)), contents);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string file_of(const Lines& chunks, uint32_t version = format::kVersion) {
  ByteString file;
  file.raw({format::kMagic, sizeof format::kMagic}).u32(version).u32(sizeof(format::FileHeader));
  for (const std::string& records : chunks) file.raw(chunk(records));
  return file.text();
}

bool contains(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every kind of record of our own") {
  constexpr uint32_t kSnapshot = format::KernelRecord::kSnapshot;
  std::string fork = perf_record(PERF_RECORD_FORK, 0, ByteString().u32(7).u32(1).u32(7).u32(1).u64(0).text());
  std::string comm =
      perf_record(PERF_RECORD_COMM, 0, ByteString().u32(7).u32(7).raw(padded_name("sleep")).text());
  std::string side = record(format::RecordType::kSideFile, ByteString()
                                                               .u64(40)
                                                               .u32(2)
                                                               .u32(7)
                                                               .u64(0)
                                                               .u64(0)
                                                               .u64(16)
                                                               .u64(5)
                                                               .raw(text("/tmp/perf-7.map") + "hello")
                                                               .text());
  std::string module =
      record(format::RecordType::kModule, ByteString()
                                              .u32(8)
                                              .u32(1)
                                              .u64(99)
                                              .u32(1)
                                              .u32(0)
                                              .raw(std::string(sizeof(format::ModuleLoad), 'l'))
                                              .raw(text("/bin/x") + text("\x12\x34"))
                                              .text());
  std::string unknown = record(static_cast<format::RecordType>(1000), "whatever");
  ReadRecording read = read_recording(file_of(
      {header_record() + kernel_record(30, kSnapshot, fork) + kernel_record(30, kSnapshot, comm) + unknown,
       module + sample_record(35) + side + kernel_record(45, 0, plain_comm(45, "late")) + mark(50),
       sample_record(60) + end_record()}));
  CHECK(read.error == "");
  CHECK(read.shortfalls.empty());
  CHECK(read.events == Lines{"module /bin/x 99 1234 loads 1", "fork 30 7/7 of 1/1 snapshot",
                             "comm 30 7/7 sleep", sample_line(35), "side 40 kind2 7 /tmp/perf-7.map@16+5",
                             "comm 45 7/8 late", sample_line(60)});
  CHECK(read.header.format == RecordingHeader::Format::kJitprof);
  CHECK(read.header.version == format::kVersion);
  CHECK(read.header.architecture == "x86_64");
  CHECK(read.header.host == "box");
  CHECK(read.header.kernel_release == "6.1.0");
  CHECK(read.header.command_line == Lines{"sleep", "1"});
  CHECK(read.header.cpu_count == 4);
  CHECK(read.header.clock_is_monotonic);
  CHECK(read.header.start_ns == 1000);
  CHECK(read.header.start_wall_ns == 2000);
  CHECK(read.header.stack_size == 32768);
  CHECK(read.header.call_graph == "stack");
  REQUIRE(read.header.events.size() == 1);
  CHECK(read.header.events[0].name == "cpu-clock");
  CHECK(read.header.events[0].is_clock);
  CHECK(read.header.events[0].frequency == 999);
}

TEST_CASE("a round mark releases what is older than it") {
  // The second round brings records older than the youngest of the first, never older than the first mark.
  ReadRecording read = read_recording(
      file_of({header_record() + sample_record(10) + sample_record(50) + sample_record(20) + mark(25),
               sample_record(60) + sample_record(25) + sample_record(30) + mark(55) + end_record()}));
  CHECK(read.events == Lines{sample_line(10), sample_line(20), sample_line(25), sample_line(30),
                             sample_line(50), sample_line(60)});
  CHECK(read.shortfalls.empty());
}

TEST_CASE("a recording of our own cut at any byte gives what comes before the cut") {
  Lines expected = {sample_line(10), sample_line(20), sample_line(30)};
  std::string whole = file_of({header_record() + sample_record(10) + mark(11), sample_record(20) + mark(21),
                               sample_record(30) + end_record()});
  for (size_t size = sizeof format::kMagic; size < whole.size(); ++size) {
    ReadRecording read = read_recording(whole.substr(0, size));
    INFO("cut to " << size);
    CHECK(read.error == "");
    REQUIRE(read.events.size() <= expected.size());
    CHECK(std::equal(read.events.begin(), read.events.end(), expected.begin()));
    auto says_so = [&](const auto& line) {
      return line.first.find("ends at byte " + std::to_string(size)) != std::string::npos;
    };
    CHECK(std::ranges::count_if(read.shortfalls, says_so) == 1);
    bool at_border = read.shortfalls.count("torn last chunk") == 0;
    // Between chunks, nothing is torn: behind the file header and behind each of two chunks.
    if (at_border) CHECK(size >= sizeof(format::FileHeader));
  }
  CHECK(read_recording(whole.substr(0, whole.size() - 1)).events.size() == 2);
}

TEST_CASE("a damaged chunk names its place; what came before is handed out") {
  std::string first = header_record() + sample_record(10);
  std::string second = sample_record(20) + mark(21);
  std::string whole = file_of({first, second, sample_record(30) + end_record()});
  size_t place = file_of({first}).size();
  for (size_t at = place; at < place + chunk(second).size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ReadRecording read = read_recording(damaged);
    INFO("byte " << at);
    CHECK(contains(read.error, "'x.data': damaged at offset " + std::to_string(place) + ": "));
    CHECK(read.events == Lines{sample_line(10)});
  }
}

TEST_CASE("malformed records inside sound chunks are damage") {
  std::string good = header_record() + sample_record(10);
  const Lines kBad = {ByteString().u32(3).u32(4).text(),           // shorter than its head
                      ByteString().u32(3).u32(12).u32(0).text(),   // no multiple of 8
                      ByteString().u32(3).u32(800).u64(0).text(),  // beyond the chunk
                      record(format::RecordType::kSample, ""),     // shorter than its fields
                      sample_record(20, 1),                        // of an event that does not exist
                      kernel_record(20, 0, perf_record(PERF_RECORD_COMM, 0, "")),
                      kernel_record(20, 0, perf_record(PERF_RECORD_SAMPLE, 0, std::string(64, 's'))),
                      record(format::RecordType::kModule, std::string(24, '\xff')),
                      record(format::RecordType::kSideFile, ByteString().u64(1).u32(2).text())};
  for (size_t i = 0; i < kBad.size(); ++i) {
    INFO("case " << i);
    ReadRecording read = read_recording(file_of({good + kBad[i] + sample_record(30)}));
    CHECK(contains(read.error, "damaged at offset 16"));
    CHECK(read.events == Lines{sample_line(10)});
  }
}

TEST_CASE("records and side files of a kind unknown here are skipped") {
  std::string unknown = record(format::RecordType::kSideFile, std::string(48, '\1')) +
                        record(static_cast<format::RecordType>(99), "");
  ReadRecording read = read_recording(file_of({header_record() + unknown + sample_record(30)}));
  CHECK(read.error == "");
  CHECK(read.events == Lines{sample_line(30)});
}

TEST_CASE("another version, another machine, no header") {
  CHECK(read_recording(file_of({header_record()}, 2)).error ==
        "'x.data' is a recording of version 2, this jitprof reads version 1: use the jitprof that wrote it");
  CHECK(contains(read_recording(file_of({header_record("aarch64")})).error, "was recorded on aarch64"));
  CHECK(contains(read_recording(file_of({sample_record(10)})).error, "the first record is no header"));
  std::string cut_header = header_record().substr(0, 64);
  CHECK(contains(read_recording(file_of({cut_header})).error, "the first record is no header"));
}

TEST_CASE("side files of JIT code come before the first sample, wherever their chunks are") {
  auto side = [](uint64_t time_ns, uint32_t kind, const std::string& tail) {
    ByteString body;
    body.u64(time_ns).u32(kind).u32(7).u64(0).u64(0).u64(0).u64(5).raw(text("x")).raw("bytes").pad_to(8);
    return record(format::RecordType::kSideFile, body.raw(tail).text());
  };
  constexpr uint32_t kIsJitFiles = format::ChunkHeader::kIsJitFiles;
  std::string tail = ByteString().u64(30).u64(5).text();
  std::string first = file_of({header_record() + sample_record(10) + mark(11)});
  std::string jit = chunk(side(40, 2, tail) + side(41, 6, tail) + side(42, 7, ""), kIsJitFiles);
  // An old recording's perf map is between the samples.
  std::string last = chunk(sample_record(20) + side(25, 2, "") + sample_record(60) + end_record(), 0);
  Lines expected = {"side 40 kind2 7 x@0+5 since 30 of 5",
                    "side 41 kind6 7 x@0+5 since 30 of 5",
                    "side 42 kind7 7 x@0+5",
                    sample_line(10),
                    sample_line(20),
                    "side 25 kind2 7 x@0+5",
                    sample_line(60)};
  ReadRecording read = read_recording(first + jit + last);
  CHECK(read.error == "");
  CHECK(read.shortfalls.empty());
  CHECK(read.events == expected);
  CHECK(read_recording(first + last + jit).events == expected);
  // Torn or damaged, they are found in their turn.
  read = read_recording(first + last + jit.substr(0, jit.size() - 1));
  CHECK(read.error == "");
  CHECK(read.shortfalls.at("torn last chunk") == 1);
  CHECK(read.events == Lines(expected.begin() + 3, expected.end()));
  jit.back() = static_cast<char>(jit.back() ^ 1);
  read = read_recording(first + jit + last);
  CHECK(contains(read.error, "damaged at offset " + std::to_string(first.size())));
  CHECK(read.events == Lines{sample_line(10)});
}

TEST_CASE("chunks are let go as soon as their records are handed out") {
  // 100 chunks of 4 MB each: held together they would be 400 MB.
  std::string large = record(format::RecordType::kSideFile, ByteString()
                                                                .u64(5)
                                                                .u32(2)
                                                                .u32(7)
                                                                .u64(0)
                                                                .u64(0)
                                                                .u64(0)
                                                                .u64(1'000'000)
                                                                .raw(text("/tmp/perf-7.map"))
                                                                .raw(std::string(1'000'000, 'm'))
                                                                .text());
  std::string part = large + large + large + large;
  std::string sound = chunk(part + mark(6));
  std::string file = file_of({header_record()});
  for (int i = 0; i < 100; ++i) file += sound;
  const auto* start = reinterpret_cast<const std::byte*>(file.data());
  auto recording = Recording::parse(MappedFile::from_memory({start, start + file.size()}), "large");
  REQUIRE(recording.ok());
  uint64_t bytes = 0;
  while (const Event* event = recording.value().next().value())
    bytes += std::get<SideFileEvent>(*event).bytes.size();
  CHECK(bytes == 400'000'000);
}
