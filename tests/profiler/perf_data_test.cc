// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "profiler/perf_data_format.h"
#include "tests/catch.h"
#include "tests/profiler/perf_data_builder.h"
#include "tests/profiler/read_recording.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

using Lines = std::vector<std::string>;

std::string sample_line(uint64_t time_ns, const std::string& ip) {
  return "sample " + std::to_string(time_ns) + " 7/8 cpu0 event0 period 1000 ip " + ip;
}

// A string of a feature section.
std::string feature_text(std::string_view text) {
  std::string padded = ByteString().raw(text).put('\0').pad_to(64).text();
  return ByteString().u32(padded.size()).raw(padded).text();
}

PerfDataFile small_file() {
  PerfDataFile file;
  file.data = plain_comm(10, "main") + plain_sample(20, 0xa) + plain_sample(30, 0xb) + finished_round() +
              plain_sample(40, 0xc) + finished_round() + plain_sample(50, 0xd);
  return file;
}
const Lines kSmallEvents = {"comm 10 7/8 main", sample_line(20, "a"), sample_line(30, "b"),
                            sample_line(40, "c"), sample_line(50, "d")};

bool is_prefix(const Lines& part, const Lines& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a small perf.data is read to its end, as a file and as a pipe") {
  PerfDataFile file = small_file();
  for (const std::string& bytes : {file.bytes(), perf_data_pipe(file)}) {
    ReadRecording read = read_recording(bytes);
    CHECK(read.error == "");
    CHECK(read.events == kSmallEvents);
    CHECK(read.shortfalls.empty());
    CHECK(read.header.format == RecordingHeader::Format::kPerfData);
    REQUIRE(read.header.events.size() == 1);
    CHECK(read.header.events[0].name == "cpu-clock");
    CHECK(read.header.events[0].is_clock);
    CHECK(read.header.events[0].frequency == 999);
    CHECK(read.header.clock_is_monotonic);
    CHECK(read.header.call_graph == "none");
  }
}

TEST_CASE("features describe the recording") {
  PerfDataFile file = small_file();
  perf_event_attr user = plain_attr();
  user.exclude_kernel = 1;
  user.freq = 0;
  user.sample_period = 5000;
  user.sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  user.sample_stack_user = 8192;
  user.use_clockid = 0;
  perf_event_attr dummy = plain_attr();
  dummy.config = PERF_COUNT_SW_DUMMY;
  file.attrs = {dummy, plain_attr(), user};
  file.ids = {{1}, {2, 3}, {4}};
  file.data = finished_round();
  ByteString desc;
  desc.u32(3).u32(sizeof(perf_event_attr));
  for (size_t i = 0; i < 3; ++i) {
    desc.put(file.attrs[i])
        .u32(1)
        .raw(feature_text(std::vector{"dummy:HG", "cpu-clock:pppH", "task-clock:u"}[i]));
    desc.u64(file.ids[i][0]);
  }
  file.features = {
      {perf_data::kHostName, feature_text("box")},
      {perf_data::kOsRelease, feature_text("6.1.0")},
      {perf_data::kArch, feature_text("x86_64")},
      {perf_data::kCpuCount, ByteString().u32(8).u32(4).text()},
      {perf_data::kCommandLine, ByteString().u32(2).raw(feature_text("perf") + feature_text("x y")).text()},
      {perf_data::kEventDesc, desc.text()},
      {perf_data::kClockData, ByteString().u32(1).u32(1).u64(111).u64(222).text()}};
  for (const std::string& bytes : {file.bytes(), perf_data_pipe(file)}) {
    ReadRecording read = read_recording(bytes);
    CHECK(read.error == "");
    CHECK(read.header.host == "box");
    CHECK(read.header.kernel_release == "6.1.0");
    CHECK(read.header.architecture == "x86_64");
    CHECK(read.header.cpu_count == 4);
    CHECK(read.header.command_line == Lines{"perf", "x y"});
    CHECK(read.header.start_wall_ns == 111);
    CHECK(read.header.start_ns == 222);
    CHECK_FALSE(read.header.clock_is_monotonic);
    CHECK(read.header.call_graph == "stack");
    CHECK(read.header.stack_size == 8192);
    REQUIRE(read.header.events.size() == 2);
    CHECK(read.header.events[0].name == "cpu-clock");
    CHECK(read.header.events[1].name == "task-clock");
    CHECK(read.header.events[1].user_only);
    CHECK(read.header.events[1].period == 5000);
    CHECK(read.header.events[1].frequency == 0);
  }
}

TEST_CASE("samples belong to the event of their id") {
  PerfDataFile file;
  perf_event_attr attr = plain_attr();
  attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
  perf_event_attr dummy = attr;
  dummy.config = PERF_COUNT_SW_DUMMY;
  file.attrs = {dummy, attr, attr};
  file.ids = {{1}, {2, 3}, {4}};
  auto sample = [](uint64_t id, uint64_t time_ns) {
    std::string body = ByteString().u64(id).u64(0xa).u32(7).u32(8).u64(time_ns).u64(1).text();
    return perf_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body);
  };
  file.data = sample(3, 10) + sample(4, 20) + sample(99, 30) + sample(1, 40) + sample(2, 50);
  ReadRecording read = read_recording(file.bytes());
  CHECK(read.error == "");
  CHECK(read.events == Lines{"sample 10 7/8 cpu0 event0 period 1 ip a",
                             "sample 20 7/8 cpu0 event1 period 1 ip a",
                             "sample 50 7/8 cpu0 event0 period 1 ip a"});
  CHECK(read.shortfalls == std::map<std::string, uint64_t>{{"records of an unknown event", 1},
                                                           {"samples of an event that takes none", 1}});
  // Both are called cpu-clock, and without modifiers there is nothing to tell them apart by.
  CHECK(read.header.events.size() == 2);
}

TEST_CASE("rounds put the records of several rings in order of time") {
  PerfDataFile file;
  // Two rings, swept one after the other; the second sweep still brings records older than the newest of the
  // first.
  file.data = plain_sample(10, 1) + plain_sample(40, 2) + plain_sample(20, 3) + finished_round() +
              plain_sample(50, 4) + plain_sample(30, 5) + plain_sample(35, 6) + finished_round() +
              plain_sample(60, 7) + plain_sample(45, 8) + finished_round();
  ReadRecording read = read_recording(file.bytes());
  CHECK(read.events == Lines{sample_line(10, "1"), sample_line(20, "3"), sample_line(30, "5"),
                             sample_line(35, "6"), sample_line(40, "2"), sample_line(45, "8"),
                             sample_line(50, "4"), sample_line(60, "7")});
  CHECK(read.shortfalls.empty());
}

TEST_CASE("a record later than its round allows is handed out at once and counted") {
  PerfDataFile file;
  file.data = plain_sample(10, 1) + plain_sample(40, 2) + finished_round() + plain_sample(50, 3) +
              finished_round() + plain_sample(15, 4) + plain_sample(60, 5);
  ReadRecording read = read_recording(file.bytes());
  CHECK(read.events == Lines{sample_line(10, "1"), sample_line(40, "2"), sample_line(15, "4"),
                             sample_line(50, "3"), sample_line(60, "5")});
  CHECK(read.shortfalls == std::map<std::string, uint64_t>{{"events out of order of time", 1}});
}

TEST_CASE("what perf made up, without a time, stays where it is") {
  PerfDataFile file;
  file.data = plain_comm(0, "old") + plain_sample(10, 1) + plain_comm(0, "late") + plain_sample(5, 2);
  ReadRecording read = read_recording(file.bytes());
  CHECK(read.events == Lines{"comm 0 7/8 old", "comm 0 7/8 late", sample_line(5, "2"), sample_line(10, "1")});
}

TEST_CASE("losses that perf states at its end are not counted twice") {
  PerfDataFile file;
  auto trailer = [](uint64_t time_ns) { return ByteString().u32(7).u32(8).u64(time_ns).text(); };
  auto lost = [&](uint64_t count) {
    return perf_record(PERF_RECORD_LOST, 0, ByteString().u64(1).u64(count).raw(trailer(20)).text());
  };
  auto stated = [&](uint64_t count) {
    return perf_record(PERF_RECORD_LOST_SAMPLES, 0, ByteString().u64(count).raw(trailer(0)).text());
  };
  file.data = plain_sample(10, 1) + lost(5) + finished_round() + plain_sample(30, 2) + finished_round() +
              stated(4) + stated(8);
  ReadRecording read = read_recording(file.bytes());
  CHECK(read.events ==
        Lines{sample_line(10, "1"), "lost 20 5", "lost 0 0", "lost 0 7", sample_line(30, "2")});
}

TEST_CASE("build-ids of the file are those of the mappings") {
  PerfDataFile file;
  auto map = [](std::string_view path, uint64_t time_ns) {
    std::string body =
        ByteString().u32(7).u32(8).u64(0x1000).u64(0x2000).u64(0).raw(padded_name(path)).text();
    return perf_record(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER,
                       body + ByteString().u32(7).u32(8).u64(time_ns).text());
  };
  auto build_id = [](uint16_t misc, char fill, uint8_t size, std::string_view path) {
    std::string body = ByteString().u32(7).raw(std::string(20, fill)).put(size).put<uint8_t>(0).u16(0).text();
    return perf_record(perf_data::kHeaderBuildId, misc, body + padded_name(path));
  };
  file.data = map("/bin/a", 10) + map("/bin/b", 20) + map("/bin/c", 30) + map("/bin/d", 40);
  file.features = {{perf_data::kBuildId, build_id(1 << 15, 'A', 8, "/bin/a") + build_id(0, 'B', 0, "/bin/b") +
                                             build_id(0, 'C', 0, "/bin/c") + build_id(0, 'D', 0, "/bin/c")}};
  ReadRecording read = read_recording(file.bytes());
  std::string start = " 7 1000+2000@0 0:0 0 x /bin/";
  std::string forty;
  for (int i = 0; i < 20; ++i) forty += "42";
  CHECK(read.events == Lines{"map 10" + start + "a 4141414141414141", "map 20" + start + "b " + forty,
                             "map 30" + start + "c ", "map 40" + start + "d "});
}

TEST_CASE("a perf.data cut at any byte gives what comes before the cut") {
  PerfDataFile file = small_file();
  file.features = {{perf_data::kArch, feature_text("x86_64")}};
  std::string whole = file.bytes();
  size_t data_begin = whole.find(file.data);
  for (size_t size = 0; size < whole.size(); ++size) {
    ReadRecording read = read_recording(whole.substr(0, size));
    INFO("cut to " << size << ": " << read.error);
    CHECK(contains(read.error, "x.data"));
    CHECK(is_prefix(read.events, kSmallEvents));
    if (size > data_begin) CHECK(contains(read.error, "at offset " + std::to_string(size)));
    if (size >= data_begin + file.data.size()) CHECK(read.events == kSmallEvents);
  }
}

TEST_CASE("a pipe-mode perf.data cut at any byte gives what comes before the cut") {
  std::string whole = perf_data_pipe(small_file());
  size_t last = 0;
  for (size_t size = 16; size < whole.size(); ++size) {
    ReadRecording read = read_recording(whole.substr(0, size));
    CHECK(is_prefix(read.events, kSmallEvents));
    CHECK(read.events.size() >= last);
    last = read.events.size();
  }
  CHECK(last == kSmallEvents.size() - 1);
}

TEST_CASE("a perf.data that perf could not finish is read up to its torn record") {
  PerfDataFile file = small_file();
  file.is_finished = false;
  std::string whole = file.bytes();
  ReadRecording read = read_recording(whole);
  CHECK(read.error == "");
  CHECK(read.events == kSmallEvents);
  CHECK(read.shortfalls == std::map<std::string, uint64_t>{{"perf.data not finished (perf was killed)", 1}});
  size_t data_begin = whole.find(file.data);
  for (size_t size = data_begin; size < whole.size(); ++size) {
    read = read_recording(whole.substr(0, size));
    CHECK(read.error == "");
    CHECK(is_prefix(read.events, kSmallEvents));
  }
  CHECK(read.shortfalls.count("torn last record") == 1);
  CHECK(read.events.size() == kSmallEvents.size() - 1);
}

TEST_CASE("damage names the place, and nothing behind it is handed out") {
  PerfDataFile file = small_file();
  std::string good = file.data;
  SECTION("a record of no size") {
    file.data = good + ByteString().u32(9).u16(0).u16(4).text() + plain_sample(60, 0xe);
    ReadRecording read = read_recording(file.bytes());
    size_t place = file.bytes().find(good) + good.size();
    CHECK(read.error == "'x.data': damaged at offset " + std::to_string(place) + ": record of size 4");
    CHECK(read.events == kSmallEvents);
  }
  SECTION("a record shorter than its fields, in the middle of a round") {
    file.data =
        good + plain_sample(70, 0xe) + perf_record(PERF_RECORD_SAMPLE, 0, "12345678") + plain_sample(60, 0xf);
    ReadRecording read = read_recording(file.bytes());
    CHECK(contains(read.error, "a record of type 9 is shorter than its fields"));
    CHECK(read.events.size() == kSmallEvents.size() + 1);
    CHECK(read.events.back() == sample_line(70, "e"));
  }
  SECTION("an error stays") {
    file.data = "\x09";
    const std::string bytes = file.bytes() + "x";
    const auto* start = reinterpret_cast<const std::byte*>(bytes.data());
    auto recording = Recording::parse(MappedFile::from_memory({start, start + bytes.size()}), "y");
    REQUIRE(recording.ok());
    Result<const Event*> first = recording.value().next();
    Result<const Event*> second = recording.value().next();
    REQUIRE_FALSE(first.ok());
    REQUIRE_FALSE(second.ok());
    CHECK(first.error().message == second.error().message);
  }
}

TEST_CASE("compressed records, with events across their borders") {
  PerfDataFile file;
  Lines expected;
  for (unsigned i = 1; i <= 500; ++i) {
    file.data += plain_sample(i * 10, i);
    std::ostringstream ip;
    ip << std::hex << i;
    expected.push_back(sample_line(i * 10, ip.str()));
  }
  std::string records = file.data;
  size_t piece = GENERATE(1, 7, 40, 1000, 100000);
  if (piece == 1) {
    records.resize(20 * plain_sample(1, 1).size());
    expected.resize(20);
  }
  file.data = compressed(records, piece);
  ReadRecording read = read_recording(file.bytes());
  CHECK(read.error == "");
  CHECK(read.events == expected);
  ReadRecording pipe = read_recording(perf_data_pipe(file));
  CHECK(pipe.events == expected);

  SECTION("cut") {
    file.is_finished = false;
    std::string whole = file.bytes();
    for (size_t size = whole.size() - 40; size < whole.size(); ++size) {
      ReadRecording cut = read_recording(whole.substr(0, size));
      CHECK(is_prefix(cut.events, expected));
      CHECK(cut.error == "");
    }
  }
  SECTION("ending inside an event") {
    file.data = compressed(records.substr(0, records.size() - 3), piece);
    ReadRecording torn = read_recording(file.bytes());
    CHECK(contains(torn.error, "compressed data ends inside a record"));
    CHECK(torn.events.size() == expected.size() - 1);
  }
  SECTION("damaged") {
    file.data = compressed(records, piece);
    file.data[8] ^= 0x55;
    ReadRecording damaged = read_recording(file.bytes());
    CHECK(contains(damaged.error, "compressed data: "));
    CHECK(damaged.events.empty());
  }
}

TEST_CASE("compressed records much larger than a buffer") {
  PerfDataFile file;
  // 40,000-byte records of a kind that is skipped, so that buffers end at every place of a record; then a
  // sample.
  std::string filler = perf_record(PERF_RECORD_KSYMBOL, 0, std::string(40'000, 'k'));
  std::string records;
  Lines expected;
  for (unsigned i = 1; i <= 200; ++i) {
    records += filler + plain_sample(i, i);
    std::ostringstream ip;
    ip << std::hex << i;
    expected.push_back(sample_line(i, ip.str()));
  }
  file.data = compressed(records, 3'000'000);
  ReadRecording read = read_recording(file.bytes());
  CHECK(read.error == "");
  CHECK(read.events == expected);
}

TEST_CASE("a compressed record that inflates without end is damage") {
  PerfDataFile file;
  std::string filler = perf_record(PERF_RECORD_KSYMBOL, 0, std::string(8, 'k'));
  std::string bomb;
  bomb.reserve(64u << 20);
  while (bomb.size() < 64u << 20) bomb += filler;
  std::string stored = compressed(bomb, bomb.size());
  CHECK(stored.size() < 16'000);
  file.data = plain_sample(1, 1) + stored;
  ReadRecording read = read_recording(file.bytes());
  CHECK(contains(read.error, "inflates to more than any recording does"));
  CHECK(read.events.size() == 1);
}

TEST_CASE("what cannot be read is refused in one line") {
  PerfDataFile file = small_file();
  SECTION("an AUX trace, by the feature") {
    file.features = {{perf_data::kAuxTrace, ""}};
    CHECK(contains(read_recording(file.bytes()).error, "holds a hardware (AUX) trace"));
  }
  SECTION("an AUX trace, by its records") {
    file.data += perf_record(perf_data::kAuxTraceInfo, 0, ByteString().u64(0).text());
    ReadRecording read = read_recording(file.bytes());
    CHECK(contains(read.error, "holds a hardware (AUX) trace"));
    CHECK(read.events == kSmallEvents);
  }
  SECTION("another architecture") {
    file.features = {{perf_data::kArch, feature_text("aarch64")}};
    for (const std::string& bytes : {file.bytes(), perf_data_pipe(file)}) {
      CHECK(read_recording(bytes).error ==
            "'x.data' was recorded on aarch64: only recordings of x86_64 can be read");
    }
  }
  SECTION("registers of another architecture in an unfinished file") {
    file.is_finished = false;
    file.attrs[0].sample_regs_user = (uint64_t{1} << 33) - 1;
    CHECK(contains(read_recording(file.bytes()).error, "another architecture"));
  }
  SECTION("unknown compression") {
    file.features = {{perf_data::kCompressed, ByteString().u32(1).u32(9).u32(1).u32(1).u32(1).text()}};
    CHECK(contains(read_recording(file.bytes()).error, "only zstd"));
  }
  SECTION("a file of a perf.data directory") {
    file.features = {{perf_data::kDirFormat, ""}};
    CHECK(contains(read_recording(file.bytes()).error, "--threads"));
  }
}

TEST_CASE("any damaged byte of a perf.data ends in events or an error, never in a crash") {
  PerfDataFile file = small_file();
  file.features = {{perf_data::kArch, feature_text("x86_64")}, {perf_data::kCommandLine, feature_text("x")}};
  std::string compressed_part = compressed(plain_sample(60, 1) + plain_sample(70, 2), 30);
  file.data += compressed_part;
  std::string whole = file.bytes();
  for (size_t place = 0; place < whole.size(); ++place) {
    for (int change : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[place] = static_cast<char>(damaged[place] ^ change);
      ReadRecording read = read_recording(damaged);
      CHECK((read.error.empty() || contains(read.error, "x.data")));
    }
  }
}
