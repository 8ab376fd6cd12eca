// SPDX-License-Identifier: Apache-2.0
// Perf maps and jitdumps of several processes in one log, and who is believed where both speak.
#include "unwind/jit/jit_collector.h"

#include "tests/catch.h"
#include "tests/unwind/jitdump_builder.h"

namespace jitprof {
namespace {

using tests::JitdumpBuilder;
using Shortfalls = std::map<std::string, uint64_t>;

constexpr uint32_t kPid = 40;

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// Feeds pieces of files as a recording has them.
class Recorded {
 public:
  Recorded& map(uint64_t time_ns, const std::string& text, uint32_t pid = kPid) {
    return piece(time_ns, pid, SideFileKind::kPerfMap, "/tmp/perf.map", text);
  }
  Recorded& dump(uint64_t time_ns, const std::string& text, uint32_t pid = kPid,
                 const std::string& path = "jit-1.dump") {
    return piece(time_ns, pid, SideFileKind::kJitDump, path, text);
  }
  // The next pieces of all files are at offset 0 again.
  Recorded& anew() {
    for (auto& [name, file] : files_) file.offset = 0;
    return *this;
  }
  Recorded& lose(uint64_t bytes) {
    for (auto& [name, file] : files_) file.offset += bytes;
    return *this;
  }
  JitLog finish() { return collector_.finish(); }

 private:
  Recorded& piece(uint64_t time_ns, uint32_t pid, SideFileKind kind, const std::string& path,
                  const std::string& text) {
    SideFileEvent event;
    event.time_ns = time_ns;
    event.kind = kind;
    event.pid = pid;
    event.path = path;
    File& file = files_[{pid, path}];
    event.offset = std::exchange(file.offset, file.offset + text.size());
    event.previous_look_ns = std::exchange(file.look_ns, time_ns);
    event.bytes = bytes_of(text);
    collector_.add(event);
    return *this;
  }

  JitCollector collector_{true};
  struct File {
    uint64_t offset = 0, look_ns = 0;
  };
  std::map<std::pair<uint32_t, std::string>, File> files_;
};

// "NAME@TIME …", of maps in brackets, of other processes than kPid with their number.
std::string text_of(const JitLog& log) {
  std::string text;
  for (const JitChange& change : log.changes) {
    if (!text.empty()) text += ' ';
    if (change.pid != kPid) text += std::to_string(change.pid) + ":";
    const JitCode* code = change.kind == JitChange::Kind::kLoad ? &log.codes.at(change.code) : nullptr;
    std::string name = code == nullptr ? "move" : code->name;
    bool is_of_map = code != nullptr && code->channel == JitCode::Channel::kPerfMap;
    text += is_of_map ? "[" + name + "]" : name;
    text += "@" + std::to_string(change.time_ns);
    if (code != nullptr) REQUIRE(code->size == change.size);
  }
  return text;
}

}  // namespace

TEST_CASE("lines of a perf map count from the look before") {
  Recorded files;
  files.map(100, "1000 10 a\n2000 10 b").map(200, " more\n").map(300, "1000 10 c\n").map(310, "1000 20 d\n");
  JitLog log = files.finish();
  CHECK(text_of(log) == "[a]@0 [b more]@0 [c]@200 [d]@300");
  CHECK(log.shortfalls.empty());
}

TEST_CASE("changes of all processes come by time") {
  Recorded files;
  files.dump(100, JitdumpBuilder().load(50, 0x1000, "f").load(90, 0x2000, "h").text());
  files.dump(100, JitdumpBuilder().load(70, 0x1000, "g").text(), 41);
  files.dump(100, JitdumpBuilder().load(80, 0x5000, "second").text(), kPid, "jit-2.dump");
  files.map(60, "1000 10 a\n", 42).map(100, "1000 10 b\n", 42);
  CHECK(text_of(files.finish()) == "42:[a]@0 f@50 42:[b]@60 41:g@70 second@80 h@90");
}

TEST_CASE("a collector is empty after it gave its log") {
  JitCollector collector(true);
  collector.add_file(1, SideFileKind::kPerfMap, bytes_of("1000 10 a\n"));
  CHECK(collector.finish().codes.size() == 1);
  JitLog log = collector.finish();
  CHECK((log.codes.empty() && log.changes.empty() && log.shortfalls.empty()));
}

TEST_CASE("files that are written anew, and pieces that are lost") {
  Recorded files;
  files.map(100, "1000 10 a\n2000 1").dump(100, JitdumpBuilder().load(50, 0x5000, "f").raw("torn").text());
  files.anew().map(200, "3000 10 b\n").dump(200, JitdumpBuilder().load(150, 0x6000, "g").text());
  files.lose(20).map(300, "000 10 c\n4000 10 d\n").dump(300, JitdumpBuilder().load(250, 0x7000, "h").text());
  JitLog log = files.finish();
  CHECK(text_of(log) == "[a]@0 f@50 [b]@100 g@150 [d]@200");
  CHECK(log.shortfalls == Shortfalls{{"lines of perf maps that could not be read", 1},
                                     {"jitdumps that end inside a record", 1},
                                     {"jitdumps that could not be read to their end", 1}});
}

TEST_CASE("other side files are none of the collector's") {
  JitCollector collector(true);
  for (SideFileKind kind : {SideFileKind::kVdso, SideFileKind::kKallsyms, SideFileKind::kModuleImage})
    collector.add_file(1, kind, bytes_of("1000 10 a\n"));
  JitLog log = collector.finish();
  CHECK((log.changes.empty() && log.shortfalls.empty()));
}

TEST_CASE("where a jitdump tells of code the perf map is not needed") {
  Recorded files;
  files.dump(100, JitdumpBuilder().load(50, 0x1000, "f").load(60, 0x2000, "g").text());
  files.map(100,
            "1000 40 f\n9000 40 stub\n2000 40 g\n1fff 2 overlaps\n203f 1 inside\n1fff 1 before\n2040 1 "
            "behind\n2000 40 g\n");
  CHECK(text_of(files.finish()) == "[stub]@0 [before]@0 [behind]@0 f@50 g@60");
}

TEST_CASE("the perf map answers for code that was moved away, and before a jitdump knows of code") {
  Recorded files;
  files.map(100, "1000 40 earlier\n");
  files.dump(
      200,
      JitdumpBuilder().load(150, 0x1000, "f").move(160, 0x1000, 0x3000, 0x40).load(170, 0x4000, "g").text());
  files.map(200, "1000 40 new\n3000 40 f\n4000 40 g\n");
  CHECK(text_of(files.finish()) == "[earlier]@0 [new]@100 f@150 move@160 g@170");
}

TEST_CASE("the perf map answers for code behind the end of a jitdump") {
  Recorded files;
  std::string torn = JitdumpBuilder().load(150, 0x3000, "h").text().substr(40, 50);
  files.map(100, "1000 40 f\n2000 40 g\n")
      .dump(100, JitdumpBuilder().load(50, 0x1000, "f").load(60, 0x2000, "g").text());
  files.map(200, "5000 40 h\n1000 40 reuses f\n2010 10 reuses g\n");
  files.dump(200, JitdumpBuilder().load(150, 0x5000, "h").text().substr(40) + torn);
  JitLog log = files.finish();
  CHECK(text_of(log) == "f@50 g@60 h@150 [reuses f]@150 [reuses g]@150");
  CHECK(log.shortfalls == Shortfalls{{"jitdumps that end inside a record", 1}});
}

TEST_CASE("a perf map that has nothing in common with the jitdump gives way to it") {
  Recorded files;
  files.dump(100, JitdumpBuilder().load(50, 0x1000, "f").text())
      .map(100, "0 10000 region\n1000 20 part\n20000 10 news\n");
  CHECK(text_of(files.finish()) == "[news]@0 f@50");
}

TEST_CASE("jitdumps of other processes do not matter to a perf map") {
  Recorded files;
  files.dump(100, JitdumpBuilder().load(50, 0x1000, "f").text(), 41).map(100, "1000 40 f\n");
  CHECK(text_of(files.finish()) == "[f]@0 41:f@50");
}

TEST_CASE("files beside a perf.data") {
  std::string uncertain = "perf maps read after the run: code that was replaced may carry a later name";
  for (bool has_monotonic_times : {true, false}) {
    JitCollector collector(has_monotonic_times);
    std::string map = "9000 40 a\n1000 40 f\n1000 20 behind\n9000 40 b\n";
    collector.add_file(kPid, SideFileKind::kPerfMap, bytes_of(map));
    for (const char* name : {"f", "g"}) {
      JitdumpBuilder dump;
      dump.load(name[0], 0x1000u * (name[0] - 'e'), name);
      collector.add_file(kPid, SideFileKind::kJitDump, dump.bytes());
    }
    JitLog log = collector.finish();
    CHECK(text_of(log) ==
          (has_monotonic_times ? "[a]@0 [b]@0 f@102 g@103 [behind]@103" : "[a]@0 [b]@0 f@0 g@0 [behind]@0"));
    CHECK(log.shortfalls == Shortfalls{{uncertain, 1}});
  }
  // All of the map is in the jitdump: nothing is uncertain.
  JitCollector collector(true);
  collector.add_file(kPid, SideFileKind::kPerfMap, bytes_of("1000 40 f\n"));
  collector.add_file(kPid, SideFileKind::kJitDump, JitdumpBuilder().load(50, 0x1000, "f").bytes());
  CHECK(collector.finish().shortfalls.empty());
}

}  // namespace jitprof
