// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "tests/catch.h"
#include "tests/end_to_end/background_program.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

struct LastSample {
  double second = 0;
  uint64_t count = 0;
};

LastSample last_sample(const std::string& script) {
  LastSample last;
  for (const std::string& line : split(script, '\n')) {
    size_t bracket = line.find("] ");
    if (line.empty() || line[0] == ' ' || bracket == std::string::npos) continue;
    last.second = std::atof(line.c_str() + bracket + 2);
    ++last.count;
  }
  return last;
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The command that a recorder has launched; waits until there is one.
pid_t child_of(pid_t parent) {
  std::string pid = std::to_string(parent);
  for (int tries = 0; tries < 500; ++tries) {
    std::string children = read_file("/proc/" + pid + "/task/" + pid + "/children");
    if (!children.empty()) return std::atoi(children.c_str());
    usleep(10'000);
  }
  FAIL("the recorder launched nothing");
  return 0;
}

// CPU seconds of a process over time.
class CpuHistory {
 public:
  void watch(pid_t pid, double seconds) {
    for (double end = now() + seconds; now() < end; usleep(2'000)) history_[now()] = cpu_seconds_of(pid);
  }
  double at(double second) const {
    auto after = history_.upper_bound(second);
    return after == history_.begin() ? 0 : std::prev(after)->second;
  }

 private:
  std::map<double, double> history_;
};

}  // namespace

// 20 kills by hand with JP_KILLS=20; few of them here, because each takes seconds. How much may be missing is
// held by hand too, on a quiet machine: a busy one delays the recorder and takes timer ticks away.
TEST_CASE("a recorder that is killed leaves what it has recorded") {
  TempDir folder;
  std::string program = folder.file("live_stack");
  compile("g++", {"-std=c++20", "-O2", "-g", "-pthread"}, {"live_stack.cc"}, program);
  const char* wanted = std::getenv("JP_KILLS");
  int kills = wanted != nullptr ? std::atoi(wanted) : 3;
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < kills; ++i) {
    std::string recording = folder.file("recording");
    BackgroundProgram recorder({JP_JITPROF, "record", "-o", recording, program, "2", "1", "30"});
    pid_t target = child_of(recorder.pid());
    CpuHistory cpu;
    cpu.watch(target, 1 + static_cast<double>(random() % 2'000) / 1'000);
    double killed_at = now();
    recorder.end(SIGKILL);
    kill(target, SIGKILL);

    LastSample last = last_sample(jitprof_output({"script", recording}));
    double covered = cpu.at(last.second);
    INFO("kill " << i << ": " << last.count << " samples in " << covered << " CPU seconds, the last "
                 << killed_at - last.second << " s before the kill");
    CHECK(covered > 0.1);
    CHECK(last.count > 50);
    if (wanted != nullptr) {
      CHECK(killed_at - last.second <= 1.0);
      CHECK(static_cast<double>(last.count) >= 0.95 * 999 * covered);
      std::printf("%llu samples, %.3f CPU s, %.3f s\n", static_cast<unsigned long long>(last.count), covered,
                  killed_at - last.second);
    }
  }
}

}  // namespace jitprof::tests
