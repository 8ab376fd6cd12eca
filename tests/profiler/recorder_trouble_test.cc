// SPDX-License-Identifier: Apache-2.0

// Recorders that are killed, stopped for too long or interrupted, and targets whose files come late or
// vanish.

#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "profiler/format.h"
#include "profiler/process_snapshot.h"
#include "tests/catch.h"
#include "tests/profiler/recorder_process.h"
#include "tests/profiler/recorder_programs.h"
#include "tests/run_program.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

// Where the whole chunks of a file begin, and where the last of them ends.
std::vector<size_t> chunk_places(const std::string& path) {
  std::string bytes = read_file(path);
  std::vector<size_t> places = {sizeof(format::FileHeader)};
  format::ChunkHeader header;
  while (places.back() + sizeof header <= bytes.size()) {
    std::memcpy(&header, bytes.data() + places.back(), sizeof header);
    size_t end = places.back() + sizeof header + header.stored_size;
    if (end > bytes.size()) break;
    places.push_back(end);
  }
  return places;
}

RecordOptions options_for(const TempDir& folder, std::vector<std::string> command) {
  RecordOptions options;
  options.command = std::move(command);
  options.events = {"cpu-clock"};
  options.output = folder.file("out.data");
  return options;
}

}  // namespace

TEST_CASE("a killed recorder leaves a readable recording of all chunks it closed") {
  TempDir folder;
  RecorderProcess recorder(options_for(folder, {spin_program(folder), "100"}));
  pid_t target = recorder.command("spin");
  REQUIRE(target != 0);
  // A chunk that is being written when the recorder dies is torn; the first holds the header only.
  wait_until([&] { return chunk_places(folder.file("out.data")).size() >= 4; });
  CHECK(recorder.end(SIGKILL) == 128 + SIGKILL);
  kill(target, SIGKILL);
  Contents contents = read_contents(folder.file("out.data"));
  CHECK(contents.samples > 0);
  CHECK(contents.samples_by_pid.count(static_cast<uint32_t>(target)) == 1);
  CHECK(contents.header.architecture == "x86_64");

  // Torn anywhere in a chunk, it still gives what comes before.
  std::vector<size_t> places = chunk_places(folder.file("out.data"));
  REQUIRE(places.size() >= 4);
  std::string bytes = read_file(folder.file("out.data"));
  for (size_t end : {places[2] - 7, places[1] + 5, places[1]}) {
    Contents torn = read_contents(folder.write("torn.data", bytes.substr(0, end)));
    CHECK(torn.header.architecture == "x86_64");
    CHECK(torn.samples < contents.samples);
  }
}

TEST_CASE("an interrupted recorder keeps everything and ends the command") {
  TempDir folder;
  std::string spin = spin_program(folder);
  for (int number : {SIGINT, SIGTERM}) {
    RecorderProcess recorder(options_for(folder, {spin, "100"}));
    REQUIRE(recorder.command("spin") != 0);
    CHECK(recorder.end(number) == 128 + SIGTERM);
    Contents contents = read_contents(folder.file("out.data"));
    CHECK(contents.shortfalls.empty());
  }
}

TEST_CASE("what the rings had no room for is counted") {
  TempDir folder;
  RecordOptions options = options_for(folder, {spin_program(folder), "2"});
  // 160 MB a second into a ring of at most 64 MiB.
  options.frequency = 2500;
  options.stack_size = 65528;
  RecorderProcess recorder(options);
  pid_t target = recorder.command("spin");
  REQUIRE(target != 0);
  recorder.send(SIGSTOP);
  wait_until([&] {
    return read_file("/proc/" + std::to_string(target) + "/stat").find(") Z ") != std::string::npos;
  });
  recorder.send(SIGCONT);
  CHECK(recorder.end(0) == 0);
  Contents contents = read_contents(folder.file("out.data"));
  CHECK(contents.lost > 0);
  CHECK(contents.samples > 0);
}

TEST_CASE("a perf map and a jitdump that appear late are copied as they grow and to their end") {
  TempDir folder;
  std::string compiler = program(folder, "late", R"(
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>
#include <ctime>
void spin(double seconds) {
  double end = std::clock() + seconds * CLOCKS_PER_SEC;
  while (std::clock() < end) {}
}
int main(int, char** arguments) {
  mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  spin(0.3);
  char map_name[64], dump_name[256];
  std::snprintf(map_name, sizeof map_name, "/tmp/perf-%d.map", getpid());
  std::snprintf(dump_name, sizeof dump_name, "%s/jit-%d.dump", arguments[1], getpid());
  int map = open(map_name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int dump = open(dump_name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  write(map, "1000 10 first\n", 14);
  write(dump, "first", 5);
  mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0);
  spin(1.5);
  unlink(map_name);
  unlink(dump_name);
  write(map, "2000 10 last\n", 13);
  write(dump, "last", 4);
})");
  RecordOptions options = options_for(folder, {compiler, folder.path()});
  must_record(options);
  Contents contents = read_contents(options.output);
  std::map<SideFileKind, std::string> by_kind;
  for (const auto& [name, bytes] : contents.side_files) by_kind[name.first] = bytes;
  CHECK(by_kind[SideFileKind::kPerfMap] == "1000 10 first\n2000 10 last\n");
  CHECK(by_kind[SideFileKind::kJitDump] == "firstlast");
}

TEST_CASE("perf maps and jitdumps are found in a pid and mount namespace with a /tmp of its own") {
  TempDir folder;
  std::string compiler = program(folder, "inner", R"(
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>
#include <ctime>
int main() {
  mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char name[64];
  std::snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
  int map = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  std::snprintf(name, sizeof name, "/tmp/jit-%d.dump", getpid());
  int dump = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (getpid() > 100 || map < 0 || dump < 0) return 1;
  write(map, "1000 10 inner\n", 14);
  write(dump, "inner", 5);
  mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0);
  while (std::clock() < CLOCKS_PER_SEC) {}
})");
  // The folder with the program is in the old /tmp.
  std::string script = "exec 3<'" + compiler + "' && mount -t tmpfs none /tmp && exec /proc/self/fd/3";
  RecordOptions options = options_for(folder, {"unshare", "-Urpfm", "--mount-proc", "sh", "-c", script});
  if (run_program({"unshare", "-Urpfm", "--mount-proc", "true"}).status != 0) {
    WARN("namespaces are not allowed here");
    return;
  }
  CHECK(must_record(options).command_status == 0);
  std::map<SideFileKind, std::string> by_kind;
  for (const auto& [name, bytes] : read_contents(options.output).side_files) by_kind[name.first] = bytes;
  CHECK(by_kind[SideFileKind::kPerfMap] == "1000 10 inner\n");
  CHECK(by_kind[SideFileKind::kJitDump] == "inner");
}

TEST_CASE("a binary that is gone at the end is put into the recording") {
  TempDir folder;
  compile("g++", {"-O2", "-g", "-std=c++20"}, {"unlinked_marker.cc"}, folder.file("marker"));
  std::string image = read_file(folder.file("marker"));
  RecordOptions options = options_for(folder, {folder.file("marker"), "0.3"});
  must_record(options);
  CHECK(access(folder.file("marker").c_str(), F_OK) != 0);
  Contents contents = read_contents(options.output);
  uint64_t images = 0;
  for (const auto& [name, bytes] : contents.side_files) {
    if (name.first != SideFileKind::kModuleImage) continue;
    ++images;
    CHECK(name.second == folder.file("marker"));
    CHECK(bytes == image);
  }
  CHECK(images == 1);
}
