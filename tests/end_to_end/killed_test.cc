// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
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

}  // namespace

// 20 kills by hand with JP_KILLS=20; few of them here, because each takes seconds.
TEST_CASE("a recorder that is killed leaves what it has recorded") {
  TempDir folder;
  std::string program = folder.file("attach_marker");
  compile("g++", {"-std=c++20", "-O2", "-g", "-pthread"}, {"attach_marker.cc"}, program);
  const char* wanted = std::getenv("JP_KILLS");
  int kills = wanted != nullptr ? std::atoi(wanted) : 3;
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < kills; ++i) {
    BackgroundProgram target({program, "30"});
    std::string recording = folder.file("recording");
    double cpu_before = cpu_seconds_of(target.pid());
    BackgroundProgram recorder({JP_JITPROF, "record", "-o", recording, "-p", std::to_string(target.pid())});
    usleep(1'500'000 + random() % 2'000'000);
    double cpu = cpu_seconds_of(target.pid());
    double killed_at = now();
    recorder.end(SIGKILL);
    target.end(SIGTERM);

    LastSample last = last_sample(jitprof_output({"script", recording}));
    INFO("kill " << i << ": " << last.count << " samples, the last " << killed_at - last.second
                 << " s before the kill");
    CHECK(killed_at - last.second <= 1.0);
    // The recorder starts to sample some time after cpu_before; up to the last sample it must have them all.
    double covered = cpu - cpu_before - 2 * (killed_at - last.second);
    CHECK(static_cast<double>(last.count) >= 0.8 * 999 * covered);
  }
}

}  // namespace jitprof::tests
