// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/profiler/read_recording.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

using namespace jitprof;
using namespace jitprof::tests;

namespace {

std::string refusal(const std::string& path) {
  auto recording = Recording::open(path);
  return recording.ok() ? "" : recording.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("files that are no recording are refused with what they look like") {
  TempDir folder;
  CHECK(contains(refusal(folder.file("absent")), "cannot open '" + folder.file("absent") + "'"));
  CHECK(contains(refusal(folder.path()), "it is a directory"));
  CHECK(refusal(folder.write("empty", "")) == "'" + folder.file("empty") + "' is empty");
  CHECK(contains(refusal("/proc/self/exe"), "looks like an ELF file"));
  auto kind_of = [](const std::string& bytes) { return read_recording(bytes).error; };
  CHECK(contains(kind_of(std::string("\x1f\x8b\x08\x00", 4)), "gzip"));
  CHECK(contains(kind_of("main;a;b 5\n"), "looks like text"));
  CHECK(contains(kind_of("{\"meta\":{}}"), "JSON"));
  CHECK(contains(kind_of(std::string("\x00\x01\x02", 3)), "something else"));
  CHECK(contains(kind_of("PERFFILE" + std::string(100, '\0')), "first version"));
  CHECK(contains(kind_of("2ELIFREP" + std::string(100, '\0')), "other byte order"));
  CHECK(contains(kind_of("PERFILE2"), "ends inside its header"));
}
