// SPDX-License-Identifier: Apache-2.0

// Recordings by the perf that is installed, of a program compiled here, against what perf says of them
// itself.

#include <unistd.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "tests/catch.h"
#include "tests/profiler/read_recording.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

constexpr const char* kProgram = R"(
#include <stdlib.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
volatile unsigned long sink;
__attribute__((noinline)) void leaf(int turns) { for (int i = 0; i < turns; ++i) sink = sink + i; }
__attribute__((noinline)) void spin() { for (int i = 0; i < 60; ++i) leaf(1000000); }
int main() {
  if (fork() == 0) { std::thread other(spin); spin(); other.join(); _exit(0); }
  spin();
  wait(nullptr);
  execl("/bin/true", "true", nullptr);
}
)";

// What tells one sample from all others: time, process and thread, period, pc.
using SampleKey = std::tuple<uint64_t, std::string, uint64_t, uint64_t>;

std::vector<SampleKey> samples_by_perf(const std::string& file) {
  ProgramResult script = run_program(
      {"perf", "script", "--ns", "-i", file, "-F", "pid,tid,time,period,ip", "-G", "--no-inline"});
  std::vector<SampleKey> samples;
  std::istringstream lines(script.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string task, time;
    uint64_t period = 0, ip = 0;
    if (!(fields >> task >> time >> period >> std::hex >> ip)) continue;
    std::erase_if(time, [](char c) { return c == '.' || c == ':'; });
    samples.emplace_back(std::stoull(time), task, period, ip);
  }
  return samples;
}

struct Read {
  std::vector<SampleKey> samples;
  std::map<std::string, size_t> kinds;
  size_t with_stack = 0, with_chain = 0, build_ids = 0;
  std::vector<size_t> by_event = std::vector<size_t>(8);
  RecordingHeader header;
  std::map<std::string, uint64_t> shortfalls;
};

Read read(const std::string& file) {
  auto opened = Recording::open(file);
  INFO((opened.ok() ? "" : opened.error().message));
  REQUIRE(opened.ok());
  Read all;
  while (true) {
    auto event = opened.value().next();
    INFO((event.ok() ? "" : event.error().message));
    REQUIRE(event.ok());
    if (event.value() == nullptr) break;
    std::string text = describe(*event.value());
    ++all.kinds[text.substr(0, text.find(' '))];
    if (const auto* map = std::get_if<MapEvent>(event.value())) all.build_ids += !map->build_id.empty();
    const auto* sample = std::get_if<Sample>(event.value());
    if (sample == nullptr) continue;
    all.samples.emplace_back(sample->time_ns, std::to_string(sample->pid) + "/" + std::to_string(sample->tid),
                             sample->period, sample->ip.value);
    ++all.by_event[sample->event];
    all.with_stack += sample->stack_count == 1 && sample->registers.knows(Register::rip);
    all.with_chain += !sample->user_chain.empty();
  }
  all.header = opened.value().header();
  all.shortfalls = opened.value().shortfalls();
  return all;
}

// One program and one folder for all cases.
struct PerfRecording {
  TempDir folder;
  std::string program;
  std::string file = folder.file("perf.data");

  PerfRecording() : program(folder.file("program")) {
    compile("g++", {"-O1", "-g", "-fno-omit-frame-pointer", "-pthread"},
            {folder.write("program.cc", kProgram)}, program);
  }
  void record(std::vector<std::string> options) {
    std::vector<std::string> command = {"perf", "record", "-q", "-o", file};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(program);
    ProgramResult result = run_program(command);
    INFO(result.err);
    REQUIRE(result.status == 0);
  }
};

}  // namespace

TEST_CASE("perf record --call-graph fp") {
  PerfRecording recording;
  recording.record({"-F", "999", "-k", "mono", "-e", "cpu-clock", "--call-graph", "fp"});
  Read all = read(recording.file);
  CHECK(all.samples.size() > 50);
  CHECK(all.samples == samples_by_perf(recording.file));
  CHECK(all.with_chain > all.samples.size() / 2);
  CHECK(all.with_stack == 0);
  CHECK(all.build_ids > 0);
  CHECK(all.kinds["fork"] >= 2);
  CHECK(all.kinds["exit"] >= 2);
  CHECK(all.header.call_graph == "fp");
  CHECK(all.header.clock_is_monotonic);
  CHECK(all.header.architecture == "x86_64");
  CHECK(all.header.command_line.back() == recording.program);
  CHECK(all.shortfalls.empty());
}

TEST_CASE("perf record --call-graph dwarf, plain and -z") {
  PerfRecording recording;
  bool is_compressed = GENERATE(false, true);
  std::vector<std::string> options = {"-F", "999", "-e", "cpu-clock", "--call-graph", "dwarf"};
  if (is_compressed) options.push_back("-z");
  recording.record(options);
  Read all = read(recording.file);
  CHECK(all.samples.size() > 50);
  CHECK(all.samples == samples_by_perf(recording.file));
  // All but those of a process without user space yet, or no more.
  CHECK(all.with_stack > all.samples.size() * 9 / 10);
  CHECK(all.header.call_graph == "stack");
  CHECK(all.header.stack_size == 8192);
  CHECK_FALSE(all.header.clock_is_monotonic);
  CHECK(all.shortfalls.empty());
}

TEST_CASE("perf record of several events") {
  PerfRecording recording;
  recording.record({"-F", "999", "-g", "-e", "cpu-clock", "-e", "task-clock:u", "-e", "page-faults"});
  Read all = read(recording.file);
  CHECK(all.samples == samples_by_perf(recording.file));
  REQUIRE(all.header.events.size() == 3);
  CHECK(all.header.events[0].name == "cpu-clock");
  CHECK(all.header.events[1].name == "task-clock");
  CHECK(all.header.events[1].user_only);
  CHECK(all.header.events[2].name == "page-faults");
  CHECK_FALSE(all.header.events[2].is_clock);
  ProgramResult stats = run_program({"perf", "report", "--stats", "-i", recording.file});
  // "cpu-clock stats:\n          SAMPLE events:        760", once per event in their order.
  size_t at = stats.out.find("cpu-clock");
  for (size_t event = 0; event < 3; ++event) {
    at = stats.out.find("SAMPLE events:", at);
    REQUIRE(at != std::string::npos);
    at += 14;
    CHECK(std::stoull(stats.out.substr(at)) == all.by_event[event]);
  }
}

TEST_CASE("perf record into a pipe") {
  PerfRecording recording;
  // perf 6.1 cannot read its own compressed pipe ("failed to decompress"); the samples are there all the
  // same.
  std::string options = GENERATE("", "-z ");
  ProgramResult result = run_program({"sh", "-c",
                                      "perf record -q -F 999 -e cpu-clock --call-graph dwarf " + options +
                                          "-o - " + recording.program + " | cat > " + recording.file});
  REQUIRE(result.status == 0);
  Read all = read(recording.file);
  CHECK(all.samples.size() > 50);
  if (options.empty()) CHECK(all.samples == samples_by_perf(recording.file));
  CHECK(std::ranges::is_sorted(all.samples, {}, [](const SampleKey& key) { return std::get<0>(key); }));
  CHECK(all.with_stack > all.samples.size() * 9 / 10);
  REQUIRE(all.header.events.size() == 1);
  CHECK(all.header.events[0].name == "cpu-clock");
  CHECK(all.shortfalls.empty());
}

TEST_CASE("perf record -a: what ran before is a snapshot") {
  PerfRecording recording;
  ProgramResult result = run_program({"perf", "record", "-q", "-F", "999", "-a", "-e", "cpu-clock",
                                      "--buildid-mmap", "-o", recording.file, "sleep", "0.3"});
  if (result.status != 0) {
    WARN("not allowed to record the whole system: " << result.err);
    return;
  }
  Read all = read(recording.file);
  CHECK(all.samples == [&] {
    std::vector<SampleKey> samples = samples_by_perf(recording.file);
    // perf prints the idle or exited task's ids as signed.
    for (SampleKey& key : samples) {
      std::string& task = std::get<1>(key);
      for (size_t at; (at = task.find("-1")) != std::string::npos;) task.replace(at, 2, "4294967295");
    }
    return samples;
  }());
  CHECK(all.build_ids > 0);
  auto opened = Recording::open(recording.file);
  REQUIRE(opened.ok());
  size_t snapshots = 0;
  while (const Event* event = opened.value().next().value()) {
    const auto* fork = std::get_if<ForkEvent>(event);
    if (fork != nullptr && fork->pid == static_cast<uint32_t>(getpid())) snapshots += fork->is_snapshot;
  }
  CHECK(snapshots >= 1);
}
