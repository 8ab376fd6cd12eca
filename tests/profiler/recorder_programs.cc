// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/recorder_programs.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/run_program.h"

namespace jitprof::tests {
namespace {

void add(Contents& contents, const Sample& sample) {
  ++contents.samples;
  ++contents.samples_by_event[sample.event];
  ++contents.samples_by_pid[sample.pid];
  ++contents.samples_by_tid[sample.tid];
  if (!sample.registers.empty()) ++contents.with_registers;
  if (sample.stack_count != 0) {
    ++contents.with_stack;
    contents.deepest_copy = std::max<uint64_t>(contents.deepest_copy, sample.stack[0].bytes.size());
  }
  if (!sample.user_chain.empty()) ++contents.with_user_chain;
}

void add(Contents& contents, const SideFileEvent& event) {
  std::string& bytes = contents.side_files[{event.kind, event.path}];
  if (event.offset == 0) bytes.clear();
  CHECK(event.offset == bytes.size());
  bytes.append(reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size());
}

void add(Contents& contents, const Event& event) {
  if (const auto* sample = std::get_if<Sample>(&event)) {
    add(contents, *sample);
  } else if (const auto* side_file = std::get_if<SideFileEvent>(&event)) {
    add(contents, *side_file);
  } else if (const auto* lost = std::get_if<LostEvent>(&event)) {
    contents.lost += lost->count;
  } else if (const auto* map = std::get_if<MapEvent>(&event)) {
    contents.maps.push_back(*map);
  } else if (const auto* module = std::get_if<ModuleEvent>(&event)) {
    contents.modules.push_back(*module);
  } else if (const auto* comm = std::get_if<CommEvent>(&event)) {
    contents.comms.push_back(comm->comm);
  }
}

}  // namespace

Contents read_contents(const std::string& path) {
  Result<Recording> recording = Recording::open(path);
  INFO((recording.ok() ? "" : recording.error().message));
  REQUIRE(recording.ok());
  Contents contents;
  contents.header = recording.value().header();
  while (true) {
    Result<const Event*> event = recording.value().next();
    INFO((event.ok() ? "" : event.error().message));
    REQUIRE(event.ok());
    if (event.value() == nullptr) break;
    add(contents, *event.value());
  }
  contents.shortfalls = recording.value().shortfalls();
  return contents;
}

std::string program(const TempDir& folder, const std::string& name, const std::string& text) {
  std::string source = folder.write(name + ".cc", text);
  compile("g++", {"-O1", "-g", "-std=c++20", "-pthread"}, {source}, folder.file(name));
  return folder.file(name);
}

std::string spin_program(const TempDir& folder) {
  return program(folder, "spin", R"(
#include <cstdlib>
#include <ctime>
int main(int, char** arguments) {
  double end = std::atof(arguments[1]) * CLOCKS_PER_SEC;
  while (std::clock() < end) {
    for (volatile int i = 0; i < 100000; ++i) {
    }
  }
})");
}

RecordSummary must_record(const RecordOptions& options) {
  std::variant<RecordSummary, RecordFailure> outcome = record(options);
  const auto* failure = std::get_if<RecordFailure>(&outcome);
  INFO((failure != nullptr ? failure->message : ""));
  REQUIRE(failure == nullptr);
  return std::get<RecordSummary>(outcome);
}

}  // namespace jitprof::tests
