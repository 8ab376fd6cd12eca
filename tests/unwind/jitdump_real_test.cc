// SPDX-License-Identifier: Apache-2.0
// The files that the node on PATH writes, read whole and after kill -9.
#include <elf.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "unwind/cfi/unwind_table.h"
#include "unwind/jit/jit_collector.h"

namespace jitprof {
namespace {

constexpr const char* kProgram = R"js(
function leaf(x) { let sum = 0; for (let i = 0; i < 20; i++) sum += x * i; return sum; }
function small(x) { return leaf(x) + 1; }
function hot(x) { let sum = 0; for (let i = 0; i < 50; i++) sum += small(i + x); return sum; }
let total = 0;
for (let i = 0; i < 20000; i++) total += hot(i % 7);
if (process.argv[2] == 'kill') process.kill(process.pid, 'SIGKILL');
)js";

struct NodeFiles {
  std::string dump, map;
  int status = -1;
};

// nullopt where there is no node.
std::optional<NodeFiles> run_node(const std::string& argument) {
  tests::TempDir folder;
  tests::ProgramResult version = tests::run_program({"node", "--version"});
  if (version.status != 0) {
    WARN("no node on PATH");
    return std::nullopt;
  }
  WARN("node " << version.out);
  // V8 11.3 writes names of freed memory: seldom, if other threads have used it, more than the first 16 bytes
  // are lost, and the file is not known.
  std::string program = folder.write("a_chain_of_calls.js", kProgram);
  NodeFiles files;
  files.status = tests::run_program({"node", "--perf-prof", "--perf-basic-prof",
                                     "--interpreted-frames-native-stack", program, argument},
                                    folder.path())
                     .status;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with("jit-") || !name.ends_with(".dump")) continue;
    files.dump = tests::read_file(entry.path().string());
    std::string map = "/tmp/perf-" + name.substr(4, name.size() - 9) + ".map";
    files.map = tests::read_file(map);
    std::filesystem::remove(map);
  }
  REQUIRE(files.dump.size() > 1000);
  REQUIRE(files.map.size() > 1000);
  return files;
}

struct RawLoad {
  uint64_t time_ns, start, size;
  std::string name;
};

// What a few lines of code read in the file: its complete loads, and its lines' count.
struct RawDump {
  explicit RawDump(const std::string& text) {
    auto number = [&](size_t at) {
      uint64_t value;
      std::memcpy(&value, text.data() + at, sizeof value);
      return value;
    };
    size_t at = 40;
    for (size_t size; at + 16 <= text.size() && (size = number(at) >> 32) <= text.size() - at; at += size) {
      uint32_t id = static_cast<uint32_t>(number(at));
      if (id == 0)
        loads.push_back({number(at + 8), number(at + 32), number(at + 40), text.c_str() + at + 56});
      if (id == 2) ++debug_infos;
    }
    is_torn = at != text.size();
  }
  std::vector<RawLoad> loads;
  size_t debug_infos = 0;
  bool is_torn = false;
};

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void check_loads(const JitLog& log, const RawDump& raw) {
  REQUIRE(log.changes.size() == raw.loads.size());
  for (size_t i = 0; i < raw.loads.size(); ++i) {
    const JitCode& code = log.codes.at(log.changes[i].code);
    REQUIRE(code.name == raw.loads[i].name);
    REQUIRE(log.changes[i].start.value == raw.loads[i].start);
    REQUIRE(log.changes[i].size == raw.loads[i].size);
    REQUIRE(log.changes[i].time_ns == raw.loads[i].time_ns);
    REQUIRE(code.bytes.size() == raw.loads[i].size);
  }
}

void check_lines(const JitLog& log, const RawDump& raw) {
  size_t with_lines = 0, of_program = 0;
  for (const JitCode& code : log.codes) {
    INFO(code.name);
    if (!code.lines.empty()) ++with_lines;
    for (const JitLine& line : code.lines) {
      REQUIRE(line.offset < code.size);
      REQUIRE(line.line > 0);
      REQUIRE(line.column > 0);
      if (!code.files[line.file].ends_with("/a_chain_of_calls.js")) continue;
      ++of_program;
      REQUIRE(line.line <= 7);
    }
  }
  CHECK(with_lines == raw.debug_infos);
  CHECK(of_program > 10);
}

// Optimised code has CFI from its first to its last instruction; up to three bytes of padding were seen
// behind.
void check_unwinding(const JitLog& log) {
  size_t with_frames = 0;
  for (const JitCode& code : log.codes) {
    if (code.eh_frame.empty()) continue;
    ++with_frames;
    INFO(code.name);
    FrameSection section{.bytes = code.eh_frame, .start = code.eh_frame_start};
    UnwindTable table = UnwindTable::compile(std::span(&section, 1));
    REQUIRE(table.find(ElfAddr{0}) != nullptr);
    REQUIRE(table.find(ElfAddr{code.size - 8}) != nullptr);
    REQUIRE(table.find(ElfAddr{code.size}) == nullptr);
  }
  CHECK(with_frames > 0);
}

}  // namespace

TEST_CASE("a jitdump of node is read whole, its lines lie in its code") {
  std::optional<NodeFiles> files = run_node("");
  if (!files) return;
  REQUIRE(files->status == 0);
  RawDump raw(files->dump);
  REQUIRE(raw.loads.size() > 100);
  JitCollector collector(true);
  collector.add_file(1, SideFileKind::kJitDump, bytes_of(files->dump));
  JitLog log = collector.finish();
  check_loads(log, raw);
  check_lines(log, raw);
  check_unwinding(log);
  CHECK(log.shortfalls.empty());

  // All machine code of the map is in the jitdump; what remains are bytecodes.
  collector.add_file(1, SideFileKind::kJitDump, bytes_of(files->dump));
  collector.add_file(1, SideFileKind::kPerfMap, bytes_of(files->map));
  log = collector.finish();
  CHECK(log.codes.size() > raw.loads.size());
  for (size_t i = raw.loads.size(); i < log.codes.size(); ++i)
    REQUIRE(log.codes[i].name.find(":~") != std::string::npos);
}

TEST_CASE("of a killed node all that reached the jitdump is used, and the perf map for the rest") {
  std::optional<NodeFiles> files = run_node("kill");
  if (!files) return;
  REQUIRE(files->status == 128 + 9);
  RawDump raw(files->dump);
  REQUIRE(raw.loads.size() > 100);
  CHECK(raw.is_torn);
  JitCollector collector(true);
  collector.add_file(1, SideFileKind::kJitDump, bytes_of(files->dump));
  JitLog log = collector.finish();
  check_loads(log, raw);
  CHECK(log.shortfalls == std::map<std::string, uint64_t>{{"jitdumps that end inside a record", 1}});

  collector.add_file(1, SideFileKind::kJitDump, bytes_of(files->dump));
  collector.add_file(1, SideFileKind::kPerfMap, bytes_of(files->map));
  log = collector.finish();
  std::istringstream lines(files->map);
  size_t line_count = 0;
  for (std::string line; std::getline(lines, line);) line_count += line.find("JS:*") != std::string::npos;
  size_t code_count = 0;
  for (const JitCode& code : log.codes) code_count += code.name.starts_with("JS:*");
  CHECK(code_count > 0);
  CHECK(code_count == line_count);
}

}  // namespace jitprof
