// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

std::string record_shell(const TempDir& folder) {
  std::string recording = folder.file("recording");
  jitprof_output(
      {"record", "-o", recording, "sh", "-c", "i=0; while [ $i -lt 4000000 ]; do i=$((i+1)); done"});
  return recording;
}

}  // namespace

TEST_CASE("what cannot be read is named, with exit 2") {
  TempDir folder;
  for (const std::string& file : {folder.path(), folder.file("missing"), folder.write("empty", ""),
                                  folder.write("text", "hello"), std::string(JP_JITPROF)}) {
    for (const char* command : {"report", "script", "info"}) {
      ProgramResult result = jitprof({command, file});
      INFO(command << " " << file << ": " << result.err);
      CHECK(result.status == 2);
      CHECK(result.err.find("'" + file + "'") != std::string::npos);
    }
  }
}

TEST_CASE("folders that are none are refused") {
  TempDir folder;
  std::string missing = folder.file("missing");
  for (const char* option : {"--symfs", "--debug-dir"}) {
    ProgramResult result = jitprof({"report", option, missing, folder.file("recording")});
    CHECK(result.status == 2);
    CHECK(result.err.find("'" + missing + "'") != std::string::npos);
  }
}

TEST_CASE("a recording cut at its end is read up to there") {
  TempDir folder;
  std::string whole = read_file(record_shell(folder));
  std::string cut = folder.write("cut", whole.substr(0, whole.size() - 100));
  ProgramResult result = jitprof({"report", "-f", "folded", cut});
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK(total(parse_folded(result.out)) > 100);
  CHECK(result.err.find("torn") != std::string::npos);
}

TEST_CASE("a damaged recording is read up to the damage, with exit 2") {
  TempDir folder;
  std::string image = read_file(record_shell(folder));
  // In the last chunk, which begins at most half a second before the end.
  image[image.size() - 100] ^= 0x40;
  std::string damaged = folder.write("damaged", image);
  ProgramResult result = jitprof({"report", "-f", "folded", damaged});
  INFO(result.err);
  CHECK(result.status == 2);
  CHECK(result.err.find("offset") != std::string::npos);
  CHECK(total(parse_folded(result.out)) > 0);
}

TEST_CASE("a recording of another version is refused") {
  TempDir folder;
  std::string image = read_file(record_shell(folder));
  image[8] = 99;
  ProgramResult result = jitprof({"report", folder.write("newer", image)});
  CHECK(result.status == 2);
  CHECK(result.err.find("version 99") != std::string::npos);
}

TEST_CASE("a missing module is a footer line, not a failure") {
  TempDir folder;
  std::string program = folder.file("inline_fp");
  compile("g++", {"-std=c++20", "-O2", "-g"}, {"inline_fp.cc"}, program);
  std::string recording = folder.file("recording");
  jitprof_output({"record", "-o", recording, program, "1"});
  std::filesystem::remove(program);
  ProgramResult result = jitprof({"report", "-f", "folded", recording});
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK(total(parse_folded(result.out)) == recorded_samples(recording));
  CHECK(result.err.find("inline_fp") != std::string::npos);
}

}  // namespace jitprof::tests
