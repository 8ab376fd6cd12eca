// SPDX-License-Identifier: Apache-2.0

// Real recordings of small programs.

#include "profiler/record.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/catch.h"
#include "tests/profiler/recorder_programs.h"
#include "tests/run_program.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

RecordOptions options_for(const TempDir& folder, std::vector<std::string> command) {
  RecordOptions options;
  options.command = std::move(command);
  options.output = folder.file("out.data");
  return options;
}

bool maps_file(const Contents& contents, const std::string& path) {
  return std::any_of(contents.maps.begin(), contents.maps.end(),
                     [&](const MapEvent& map) { return map.path == path && map.is_executable; });
}

// Starts a program that runs until it is killed.
class Background {
 public:
  explicit Background(const std::vector<std::string>& arguments) : pid_(fork()) {
    if (pid_ != 0) return;
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  ~Background() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("a command is recorded with registers, stacks, maps and modules") {
  TempDir folder;
  std::string spin = spin_program(folder);
  RecordOptions options = options_for(folder, {spin, "0.5"});
  std::vector<std::string> notes;
  options.on_note = [&](const std::string& note) { notes.push_back(note); };
  RecordSummary summary = must_record(options);
  CHECK(summary.command_status == 0);
  CHECK(summary.samples > 0);
  struct stat status;
  REQUIRE(stat(options.output.c_str(), &status) == 0);
  CHECK(summary.file_bytes == static_cast<uint64_t>(status.st_size));
  CHECK((status.st_mode & 0077) == 0);

  Contents contents = read_contents(options.output);
  CHECK(contents.samples == summary.samples);
  CHECK(contents.lost == summary.lost);
  CHECK(contents.with_registers == contents.samples);
  CHECK(contents.with_stack == contents.samples);
  CHECK(contents.deepest_copy < 32768);
  CHECK(contents.header.command_line == options.command);
  CHECK(contents.header.stack_size == 32768);
  CHECK(contents.header.call_graph == "stack");
  REQUIRE(contents.header.events.size() == 1);
  CHECK(contents.header.events[0].frequency == 999);
  // Only a machine without the counter falls back, and says so.
  CHECK((contents.header.events[0].name == "cpu-clock") == (notes.size() == 1));
  CHECK(maps_file(contents, spin));
  auto module = std::find_if(contents.modules.begin(), contents.modules.end(),
                             [&](const ModuleEvent& event) { return event.path == spin; });
  REQUIRE(module != contents.modules.end());
  CHECK(!module->loads.empty());
  CHECK(!module->build_id.empty());
  CHECK(contents.side_files.count({SideFileKind::kVdso, "[vdso]"}) == 1);
  CHECK(std::count(contents.comms.begin(), contents.comms.end(), "spin") > 0);
  CHECK(contents.shortfalls.empty());
}

TEST_CASE("the command's status passes through, and a command that cannot run leaves no recording") {
  TempDir folder;
  auto status_of = [&](std::vector<std::string> command) {
    return must_record(options_for(folder, std::move(command))).command_status;
  };
  CHECK(status_of({"sh", "-c", "exit 7"}) == 7);
  CHECK(status_of({"sh", "-c", "kill -9 $$"}) == 137);
  CHECK(status_of({"true"}) == 0);

  std::string not_executable = folder.write("text", "hello");
  for (auto [command, status] : {std::pair{std::string("jitprof-no-such-command"), 127},
                                 std::pair{folder.file("nothing"), 127}, std::pair{not_executable, 126}}) {
    RecordOptions options = options_for(folder, {command});
    options.output = folder.file("refused.data");
    std::variant<RecordSummary, RecordFailure> outcome = record(options);
    REQUIRE(std::holds_alternative<RecordFailure>(outcome));
    CHECK(std::get<RecordFailure>(outcome).exit_status == status);
    CHECK(std::get<RecordFailure>(outcome).message.find(command) != std::string::npos);
    CHECK(access(options.output.c_str(), F_OK) != 0);
  }
}

TEST_CASE("an existing recording is kept as .old, but not for a command that cannot run") {
  TempDir folder;
  RecordOptions options = options_for(folder, {"true"});
  folder.write("out.data", "precious");
  RecordOptions refused = options;
  refused.command = {"jitprof-no-such-command"};
  CHECK(std::holds_alternative<RecordFailure>(record(refused)));
  CHECK(read_file(options.output) == "precious");
  must_record(options);
  CHECK(read_file(options.output + ".old") == "precious");
  read_contents(options.output);
}

TEST_CASE("refusals name the cause and the fix") {
  TempDir folder;
  auto refusal = [&](auto change) {
    RecordOptions options = options_for(folder, {"true"});
    change(options);
    std::variant<RecordSummary, RecordFailure> outcome = record(options);
    REQUIRE(std::holds_alternative<RecordFailure>(outcome));
    CHECK(std::get<RecordFailure>(outcome).exit_status == 125);
    return std::get<RecordFailure>(outcome).message;
  };
  auto contains = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(refusal([](RecordOptions& o) { o.frequency = 100'000'000; }),
           "sudo sysctl kernel.perf_event_max_sample_rate=");
  contains(refusal([](RecordOptions& o) { o.events = {"cpu-clocks"}; }), "known are cycles,");
  contains(refusal([](RecordOptions& o) { o.events = {"cpu-clock:x"}; }), "modifier");
  contains(refusal([](RecordOptions& o) { o.stack_size = 65536; }), "65528");
  contains(refusal([](RecordOptions& o) { o.output = "/nonexistent/x"; }), "'/nonexistent/x'");
  contains(refusal([&](RecordOptions& o) { o.output = folder.path(); }), "directory");
  contains(refusal([](RecordOptions& o) {
             o.command.clear();
             o.pids = {4'000'000'000u};
           }),
           "no process");
}

TEST_CASE("threads and children are followed unless inheriting is off") {
  TempDir folder;
  std::string family = program(folder, "family", R"(
#include <sys/wait.h>
#include <unistd.h>
#include <ctime>
#include <thread>
void spin(clockid_t clock) {
  timespec now;
  do { for (volatile int i = 0; i < 100000; ++i) {} clock_gettime(clock, &now); } while (now.tv_sec * 10 + now.tv_nsec / 100000000 < 2);
}
int main() {
  std::thread thread([] { spin(CLOCK_THREAD_CPUTIME_ID); });
  if (pid_t child = fork()) waitpid(child, nullptr, 0);
  else { spin(CLOCK_PROCESS_CPUTIME_ID); _exit(0); }
  thread.join();
  spin(CLOCK_THREAD_CPUTIME_ID);
})");
  RecordOptions options = options_for(folder, {family});
  options.events = {"cpu-clock"};
  must_record(options);
  Contents all = read_contents(options.output);
  CHECK(all.samples_by_pid.size() == 2);
  CHECK(all.samples_by_tid.size() == 3);
  options.inherit = false;
  must_record(options);
  CHECK(read_contents(options.output).samples_by_tid.size() == 1);
}

TEST_CASE("several events share the rings, with frame-pointer chains") {
  TempDir folder;
  RecordOptions options = options_for(folder, {spin_program(folder), "0.3"});
  options.events = {"cpu-clock", "task-clock:u", "page-faults"};
  options.call_graph = RecordOptions::CallGraph::kFramePointer;
  must_record(options);
  Contents contents = read_contents(options.output);
  REQUIRE(contents.header.events.size() == 3);
  CHECK(contents.header.events[1].name == "task-clock");
  CHECK(contents.header.events[1].user_only);
  CHECK(contents.samples_by_event.size() == 3);
  CHECK(contents.with_user_chain > 0);
  CHECK(contents.with_stack == 0);
}

TEST_CASE("attaching describes what runs already and follows new threads") {
  TempDir folder;
  compile("g++", {"-O2", "-g", "-std=c++20", "-pthread"}, {"attach_marker.cc"}, folder.file("marker"));
  Background target({folder.file("marker"), "60"});
  // Until its second thread is there.
  while (read_file("/proc/" + std::to_string(target.pid()) + "/status").find("Threads:\t2") ==
         std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  RecordOptions options = options_for(folder, {});
  options.pids = {target.pid()};
  options.duration_s = 1;
  RecordSummary summary = must_record(options);
  CHECK(summary.command_status == 0);
  Contents contents = read_contents(options.output);
  CHECK(contents.samples == summary.samples);
  CHECK(contents.samples_by_pid.size() == 1);
  CHECK(contents.samples_by_tid.size() == 2);
  CHECK(maps_file(contents, folder.file("marker")));
  CHECK(contents.shortfalls.empty());
}

TEST_CASE("system-wide leaves idle and the recorder out") {
  TempDir folder;
  if (geteuid() != 0) return;
  Background target({spin_program(folder), "60"});
  RecordOptions options = options_for(folder, {});
  options.system_wide = true;
  options.duration_s = 0.5;
  must_record(options);
  Contents contents = read_contents(options.output);
  CHECK(contents.samples_by_pid.count(0) == 0);
  CHECK(contents.samples_by_pid.count(static_cast<uint32_t>(getpid())) == 0);
  CHECK(contents.samples_by_pid.count(target.pid()) == 1);
  CHECK(maps_file(contents, folder.file("spin")));
}

TEST_CASE("the end of the duration ends the command with status 0, and the delay keeps maps") {
  TempDir folder;
  std::string spin = spin_program(folder);
  RecordOptions options = options_for(folder, {spin, "60"});
  options.duration_s = 0.5;
  options.delay_s = 0.3;
  RecordSummary summary = must_record(options);
  CHECK(summary.command_status == 0);
  CHECK(summary.samples > 0);
  CHECK(maps_file(read_contents(options.output), spin));
}
