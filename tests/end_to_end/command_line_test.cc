// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {

TEST_CASE("record ends with the command's status") {
  TempDir folder;
  std::string recording = folder.file("recording");
  CHECK(jitprof({"record", "-o", recording, "sh", "-c", "exit 7"}).status == 7);
  CHECK(jitprof({"record", "-o", recording, "sh", "-c", "kill -9 $$"}).status == 137);
  CHECK(jitprof({"record", "-o", recording, "--", "true"}).status == 0);
  ProgramResult missing = jitprof({"record", "-o", recording, "no-such-command"});
  CHECK(missing.status == 127);
  CHECK(missing.err.find("no-such-command") != std::string::npos);
  std::string text = folder.write("text", "hello\n");
  CHECK(jitprof({"record", "-o", recording, text}).status == 126);
  CHECK(jitprof({"record", "-o", "/no/such/folder/x", "true"}).status == 125);
  CHECK(jitprof({"record", "--no-such-option", "true"}).status == 125);
  CHECK(jitprof({"record"}).status == 125);
  ProgramResult no_pid = jitprof({"record", "-o", recording, "-p", "4194303"});
  CHECK(no_pid.status == 125);
  CHECK(no_pid.err.find("4194303") != std::string::npos);
}

TEST_CASE("the command's own options are left alone") {
  TempDir folder;
  ProgramResult result =
      jitprof({"record", "-F", "99", "-o", folder.file("recording"), "sh", "-c", "echo $0 $1", "-F", "-a"});
  CHECK(result.status == 0);
  CHECK(result.out == "-F -a\n");
}

TEST_CASE("an existing recording is kept, and a summary line is printed") {
  TempDir folder;
  std::string recording = folder.write("recording", "precious");
  ProgramResult result = jitprof({"record", "-o", recording, "true"});
  CHECK(result.status == 0);
  CHECK(read_file(recording + ".old") == "precious");
  CHECK(result.err.find("samples, 0 lost") != std::string::npos);
}

TEST_CASE("a recording can go through a pipe") {
  TempDir folder;
  std::string command =
      std::string(JP_JITPROF) +
      " record -o - sh -c 'echo to stderr; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done' | " +
      JP_JITPROF + " report -f folded -";
  ProgramResult result = run_program({"sh", "-c", command});
  CHECK(result.status == 0);
  CHECK(total(parse_folded(result.out)) > 10);
  CHECK(result.err.find("to stderr") != std::string::npos);
}

TEST_CASE("several events, each with its own values") {
  TempDir folder;
  std::string recording = folder.file("recording");
  std::string spin = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
  jitprof_output({"record", "-e", "task-clock", "-e", "cpu-clock", "-o", recording, "sh", "-c", spin});
  uint64_t task = total(folded(recording, {"--value", "task-clock.samples"}));
  uint64_t cpu = total(folded(recording, {"--value", "cpu-clock.samples"}));
  CHECK(task > 20);
  CHECK(cpu > 20);
  CHECK(total(folded(recording)) == task);
  CHECK(task + cpu == recorded_samples(recording));
  ProgramResult wrong = jitprof({"report", "--value", "nothing", recording});
  CHECK(wrong.status == 2);
  CHECK(wrong.err.find("cpu-clock.samples") != std::string::npos);
}

TEST_CASE("several recordings are merged") {
  TempDir folder;
  std::string one = folder.file("one"), two = folder.file("two");
  std::string spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
  for (const std::string& recording : {one, two})
    jitprof_output({"record", "-o", recording, "sh", "-c", spin});
  std::vector<FoldedStack> merged = parse_folded(jitprof_output({"report", "-f", "folded", one, two}));
  CHECK(total(merged) == recorded_samples(one) + recorded_samples(two));
}

TEST_CASE("numbers below zero are refused, and so is what cannot be written") {
  TempDir folder;
  std::string recording = folder.file("recording");
  jitprof_output(
      {"record", "-o", recording, "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"});
  CHECK(jitprof({"record", "-F", "-5", "true"}).status == 125);
  CHECK(jitprof({"record", "--stack-size", "7", "true"}).status == 125);
  CHECK(jitprof({"report", "--limit", "-1", recording}).status == 2);
  for (const char* command : {"report", "script --verbose", "info", "doctor", "--help"}) {
    INFO(command);
    std::string line = std::string(JP_JITPROF) + " " + command;
    if (std::string(command) != "doctor" && std::string(command) != "--help") line += " " + recording;
    CHECK(run_program({"sh", "-c", line + " >/dev/full"}).status == 2);
  }
}

TEST_CASE("kernel frames have their names, in a report and in a script") {
  TempDir folder;
  std::string spin = "dd if=/dev/zero of=/dev/null bs=1M count=20000";
  std::string recording = folder.file("recording");
  bool is_perf = GENERATE(false, true);
  INFO(is_perf);
  if (is_perf) {
    std::string perf = "perf record -q -e cpu-clock -g -o " + recording + " " + spin;
    REQUIRE(run_program({"sh", "-c", perf}).status == 0);
  } else {
    jitprof_output({"record", "-o", recording, "sh", "-c", spin});
  }
  CHECK(jitprof_output({"report", "-f", "folded", "--annotate", recording}).find("ksys_read_[k]") !=
        std::string::npos);
  CHECK(jitprof_output({"script", recording}).find(" ksys_read+0x") != std::string::npos);
}

TEST_CASE("a terminal that goes away ends the recording and the command") {
  TempDir folder;
  std::string recording = folder.file("recording");
  // The tests themselves may run under nohup.
  std::string line = "env --default-signal=HUP " + std::string(JP_JITPROF) + " record -o " + recording +
                     " sleep 60 & sleep 0.5; kill -HUP $!; wait $!";
  ProgramResult result = run_program({"sh", "-c", line}, "", 20);
  INFO(result.err);
  CHECK(result.status == 128 + 15);
  CHECK(result.err.find("samples, 0 lost") != std::string::npos);
}

TEST_CASE("doctor speaks of what matters") {
  std::string text = jitprof_output({"doctor", JP_JITPROF});
  for (const char* word :
       {"perf_event_paranoid", "cpu-clock", "perf_event_mlock_kb", "CAP_PERFMON", "CLOCK_MONOTONIC"}) {
    INFO(word);
    CHECK(text.find(word) != std::string::npos);
  }
}

}  // namespace jitprof::tests
