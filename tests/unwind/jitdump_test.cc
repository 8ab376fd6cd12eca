// SPDX-License-Identifier: Apache-2.0
// Jitdumps made by hand: every kind of record, producers' quirks, files cut and damaged anywhere.
#include "unwind/jit/jitdump.h"

#include "tests/catch.h"
#include "tests/unwind/jitdump_builder.h"

namespace jitprof {
namespace {

using tests::JitdumpBuilder;
using Header = JitdumpBuilder::Header;
using Line = JitdumpBuilder::Line;
using Shortfalls = std::map<std::string, uint64_t>;

const std::string kTorn = "jitdumps that end inside a record";
const std::string kNotToEnd = "jitdumps that could not be read to their end";
const std::string kBadHeader = "jitdumps with another byte order, version or machine";
const std::string kBadRecord = "jitdump records that could not be read";
const std::string kBadLines = "line tables of jitdumps that could not be read";
const std::string kOtherClock = "jitdump records with times of another clock";

constexpr uint64_t kCode = 0x7f6786fc7040;
// Codes are 64 bytes unless a test says otherwise.
constexpr uint64_t kElfHeader = 0x40;
const Header kV8{.pad = 0xdeadbeef};

JitLog read(const JitdumpBuilder& dump, LookTimes times = {}) {
  JitLog log;
  JitdumpReader reader(1, true, log);
  reader.add(dump.bytes(), times);
  reader.finish();
  return log;
}

// "load NAME START SIZE @TIME", …
std::string text_of(const JitLog& log) {
  std::string text;
  char buffer[200];
  for (const JitChange& change : log.changes) {
    REQUIRE(change.pid == 1);
    if (change.kind == JitChange::Kind::kLoad) {
      const JitCode& code = log.codes.at(change.code);
      REQUIRE(code.size == change.size);
      std::snprintf(buffer, sizeof buffer, "load %s %lx ", code.name.c_str(), change.start.value);
    } else if (change.kind == JitChange::Kind::kMove) {
      std::snprintf(buffer, sizeof buffer, "move %lx to %lx ", change.start.value, change.moved_to.value);
    } else {
      std::snprintf(buffer, sizeof buffer, "unload %lx ", change.start.value);
    }
    text += (text.empty() ? "" : ", ") + std::string(buffer);
    std::snprintf(buffer, sizeof buffer, "%lx @%lu", change.size, change.time_ns);
    text += buffer;
  }
  return text;
}

// "OFFSET:FILE:LINE:COLUMN …" of the only code.
std::string lines_of(const JitLog& log) {
  REQUIRE(log.codes.size() == 1);
  std::string text;
  for (const JitLine& line : log.codes.front().lines) {
    text += (text.empty() ? "" : " ") + std::to_string(line.offset) + ":" +
            log.codes.front().files.at(line.file) + ":" + std::to_string(line.line) + ":" +
            std::to_string(line.column);
  }
  return text;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
std::string raw_bytes(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

// The lines of one code of 64 bytes, published with these entries.
std::string read_lines(const Header& header, const std::vector<Line>& lines, const std::string& name = "f") {
  JitLog log = read(JitdumpBuilder(header).lines(kCode, lines).load(5, kCode, name));
  CHECK(log.shortfalls.empty());
  return lines_of(log);
}

}  // namespace

TEST_CASE("all kinds of jitdump records") {
  JitdumpBuilder dump;
  dump.load(10, 0x1000, "leaf(int)", "code").move(20, 0x1000, 0x3000, 4).record(77, 25, "to come").close();
  JitLog log = read(dump.load(30, 0x1000, "größe; <x>", "other code"));
  CHECK(text_of(log) == "load leaf(int) 1000 4 @10, move 1000 to 3000 4 @20, load größe; <x> 1000 a @30");
  CHECK(text_of(log.codes.front().bytes) == "code");
  CHECK(log.codes.front().channel == JitCode::Channel::kJitDump);
  CHECK(log.shortfalls.empty());
}

TEST_CASE("where jitdumps say that code is") {
  JitdumpBuilder dump;
  dump.load_of(1, 0, 0x1000, 4, "llvm", "code").load_of(2, 0x2000, 0, 4, "other", "code");
  CHECK(text_of(read(dump)) == "load llvm 1000 4 @1, load other 2000 4 @2");
}

TEST_CASE("headers of jitdumps") {
  for (const Header& good :
       {Header{}, Header{.machine = 0, .pad = 0x1a1a1a1a}, kV8, Header{.size = 48}, Header{.time = 0}})
    CHECK(text_of(read(JitdumpBuilder(good).load(1, 0x1000, "f"))) == "load f 1000 40 @1");
  for (const Header& bad :
       {Header{.magic = 0x4454694a}, Header{.magic = 0}, Header{.version = 2}, Header{.version = 1u << 24},
        Header{.size = 39}, Header{.size = 0x100000}, Header{.machine = 183}}) {
    JitLog log = read(JitdumpBuilder(bad).load(1, 0x1000, "f"));
    CHECK(log.changes.empty());
    CHECK(log.shortfalls == Shortfalls{{kBadHeader, 1}});
  }
}

TEST_CASE("pieces of a jitdump may be cut anywhere") {
  JitdumpBuilder dump(kV8);
  dump.lines(0x1000, {{0x1040, 7, "a.js", 3}}).unwinding("frames").load(10, 0x1000, "f", "12345678");
  dump.move(20, 0x1000, 0x2000, 8);
  for (size_t first = 0; first <= dump.text().size(); ++first) {
    JitLog log;
    JitdumpReader reader(1, true, log);
    reader.add(dump.bytes().first(first), {});
    reader.add({}, {});
    reader.add(dump.bytes().subspan(first), {});
    reader.finish();
    REQUIRE(text_of(log) == "load f 1000 8 @10, move 1000 to 2000 8 @20");
    REQUIRE(lines_of(log) == "0:a.js:7:3");
    REQUIRE(text_of(log.codes.front().eh_frame) == "frames");
    REQUIRE(log.shortfalls.empty());
  }
}

TEST_CASE("a jitdump that ends inside a record") {
  JitdumpBuilder dump;
  dump.load(10, 0x1000, "f");
  size_t whole = dump.text().size();
  dump.load(20, 0x2000, "g");
  for (size_t size = 1; size < dump.text().size(); ++size) {
    JitLog log;
    JitdumpReader reader(1, true, log);
    reader.add(dump.bytes().first(size), {});
    reader.finish();
    REQUIRE(log.changes.size() == (size >= whole ? 1 : 0));
    bool is_torn = size != 40 && size != whole;
    REQUIRE(log.shortfalls == (is_torn ? Shortfalls{{kTorn, 1}} : Shortfalls()));
  }
}

TEST_CASE("jitdump records of sizes that cannot be") {
  for (uint32_t size : {0u, 15u, 0x80000000u, 0xffffffffu}) {
    JitdumpBuilder dump;
    dump.load(10, 0x1000, "f").raw(raw_bytes<uint32_t>({0, size, 0, 0})).load(20, 0x2000, "g");
    JitLog log = read(dump);
    CHECK(text_of(log) == "load f 1000 40 @10");
    CHECK(log.shortfalls == Shortfalls{{kNotToEnd, 1}});
  }
}

TEST_CASE("jitdump records that contradict themselves") {
  JitdumpBuilder dump;
  dump.load(10, 0x1000, "f");
  dump.load_of(20, 0x2000, 0x2000, 5, "more code than there is", "code");
  dump.load_of(20, 0x2000, 0x2000, uint64_t{0} - 1, "more than anything", "code");
  dump.load_of(20, 0x2000, 0x2000, 0, "none", "");
  dump.load_of(20, uint64_t{0} - 2, uint64_t{0} - 2, 4, "wraps", "code");
  dump.move(20, 0x1000, uint64_t{0} - 2, 4)
      .move(20, 0x1000, 0x2000, 0)
      .record(1, 20, "short")
      .record(0, 20, "short");
  dump.record(0, 20, std::string(60, 'x')).record(2, 20, "short").record(4, 20, "short");
  dump.record(4, 20, raw_bytes<uint64_t>({4, 20, 24}) + std::string(24, 'x'));
  JitLog log = read(dump.load(30, 0x3000, "g"));
  CHECK(text_of(log) == "load f 1000 40 @10, load g 3000 40 @30");
  CHECK(log.shortfalls == Shortfalls{{kBadRecord, 12}});
}

TEST_CASE("unwinding information of a jitdump is for the next load") {
  JitdumpBuilder dump;
  dump.unwinding("frames of f").load(1, 0x1000, "f", std::string(11, 'c'));
  // V8: a table without entries.
  dump.unwinding("").load(2, 0x2000, "g").unwinding("lost").unwinding("frames of h").load(3, 0x3000, "h");
  dump.unwinding("of a load that is left out").load_of(4, 0x4000, 0x4000, 0, "none", "").load(5, 0x5000, "i");
  JitLog log = read(dump);
  REQUIRE(log.codes.size() == 4);
  CHECK(text_of(log.codes[0].eh_frame) == "frames of f");
  CHECK(log.codes[0].eh_frame_start == ElfAddr{16});
  CHECK(log.codes[1].eh_frame.empty());
  CHECK(text_of(log.codes[2].eh_frame) == "frames of h");
  CHECK(log.codes[3].eh_frame.empty());
}

TEST_CASE("what jit.h publishes beside a jitdump's own records") {
  // Version, kind, code; one frame row; its file.
  auto details = [](uint64_t index, uint64_t start) {
    return raw_bytes<uint32_t>({1, 1}) + raw_bytes<uint64_t>({index, start, 64}) +
           raw_bytes<uint32_t>({1, 0, 0, 5}) + raw_bytes<uint32_t>({0, 7, 16, 0}) + "a.vm" + '\0';
  };
  auto unload = [](uint64_t start, uint64_t size) {
    return raw_bytes<uint32_t>({1, 2}) + raw_bytes<uint64_t>({0, start, size}) + std::string(16, '\0');
  };
  const std::string code(64, 'c');
  JitdumpBuilder dump;
  dump.record(kPublishedRecordId, 5, details(1, 0x1000)).lines(0x1000, {{0x1000, 3, "a.vm", 9}});
  dump.load(10, 0x1000, "f", code, 1).record(kPublishedRecordId, 20, unload(0x1000, 64));
  // Details of code that is elsewhere; details that were used up; a later version; an unload of nothing.
  dump.record(kPublishedRecordId, 25, details(2, 0x9000)).load(30, 0x2000, "g", code, 2);
  dump.load(40, 0x1000, "f again", code, 1).record(kPublishedRecordId, 45, raw_bytes<uint32_t>({2, 1}));
  dump.record(kPublishedRecordId, 50, unload(0x1000, 0));
  JitLog log = read(dump);
  CHECK(text_of(log) ==
        "load f 1000 40 @10, unload 1000 40 @20, load g 2000 40 @30, load f again 1000 40 @40");
  REQUIRE(log.codes[0].frame_rows.size() == 1);
  CHECK(log.codes[0].frame_rows[0].base == Register::rsp);
  CHECK(log.codes[0].frame_rows[0].cfa_offset == 16);
  REQUIRE(log.codes[0].lines.size() == 1);
  CHECK(log.codes[0].lines[0].column == 9);
  CHECK(log.codes[1].frame_rows.empty());
  CHECK(log.codes[2].frame_rows.empty());
  CHECK(log.shortfalls == Shortfalls{{kBadRecord, 2}});
}

TEST_CASE("jitdump lines of producers that count from the code") {
  CHECK(read_lines({}, {{kCode, 3, "a.c"}, {kCode + 8, 4, "\xff"}, {kCode + 63, 5, "b.c"}}) ==
        "0:a.c:3:0 8:a.c:4:0 63:b.c:5:0");
  // BEAM: the first before the code, the last behind it.
  CHECK(read_lines({}, {{kCode - 0x31, 3, "a.erl"}, {kCode + 8, 4, "a.erl"}, {kCode + 64, 0, ""}}) ==
        "0:a.erl:3:0 8:a.erl:4:0");
  // Of equal positions the later one counts; order is not needed.
  CHECK(read_lines({}, {{kCode + 8, 5, "a"}, {kCode, 3, "b"}, {kCode + 8, 6, "a"}}) == "0:b:3:0 8:a:6:0");
  // The name of no entry before.
  CHECK(read_lines({}, {{kCode, 3, "\xff"}, {kCode + 1, 3, "a"}}) == "0::3:0 1:a:3:0");
}

TEST_CASE("jitdump lines of producers that count from an ELF header") {
  // LLVM: a discriminator is no column.
  CHECK(read_lines({}, {{kCode + kElfHeader, 3, "a.c", 2}, {kCode + kElfHeader + 8, 4, "a.c", 2}}) ==
        "0:a.c:3:0 8:a.c:4:0");
  CHECK(read_lines({}, {{kCode + kElfHeader + 1, 3, "a.c"}}) == "1:a.c:3:0");
  CHECK(read_lines(kV8, {{kCode + kElfHeader, 3, "a.js", 14}, {kCode + 2 * kElfHeader - 1, 4, "a.js", 7}}) ==
        "0:a.js:3:14 63:a.js:4:7");
}

TEST_CASE("what one jitdump record showed of the producer counts for those that leave it open") {
  std::string code(256, 'c');
  // Code of 256 bytes with lines at 0x40 and 0x80 may be either.
  std::vector<Line> open = {{0x1080, 3, "a"}, {0x1090, 4, "a"}};
  JitdumpBuilder llvm, jvmti;
  llvm.lines(0x3000, {{0x3040, 1, "a"}})
      .load(1, 0x3000, "first", code)
      .lines(0x1000, open)
      .load(2, 0x1000, "open", code);
  CHECK(read(llvm).codes[1].lines.front().offset == 0x40);
  jvmti.lines(0x3000, {{0x3004, 1, "a"}})
      .load(1, 0x3000, "first", code)
      .lines(0x1000, open)
      .load(2, 0x1000, "open", code);
  CHECK(read(jvmti).codes[1].lines.front().offset == 0x80);
  CHECK(read(JitdumpBuilder(kV8).lines(0x1000, open).load(2, 0x1000, "open", code))
            .codes[0]
            .lines.front()
            .offset == 0x40);
}

TEST_CASE("file names that V8 11.3 wrote out of freed memory") {
  const std::string garbage("\x67\xf7\xc2\x0d\0\0\0\0\x0c\x71\xe7\x96\xe0\x41\xc2\xa8", 16);
  const uint64_t code = kCode + kElfHeader;
  // "/srv/node/chain.js"
  std::string name = garbage + "js";
  std::vector<Line> lines = {{code, 3, name, 1}, {code + 5, 4, name, 2}, {code + 9, 5, name, 3}};
  CHECK(read_lines(kV8, lines, "JS:*mid /srv/node/chain.js:16:13") ==
        "0:/srv/node/chain.js:3:1 5:/srv/node/chain.js:4:2 9:/srv/node/chain.js:5:3");
  // Another file than that of the function, or none to be found in its name.
  CHECK(read_lines(kV8, lines, "JS:*mid /srv/node/chains.mj:16:13") == "0::3:1 5::4:2 9::5:3");
  CHECK(read_lines(kV8, lines, "JS:*mid x/srv/node/chain.js:16:13") == "0::3:1 5::4:2 9::5:3");
  CHECK(read_lines(kV8, lines, "Builtin:wasm-to-js") == "0::3:1 5::4:2 9::5:3");
  // Names of several lengths, one of them whole.
  lines[1].file = "/srv/lib.js";
  CHECK(read_lines(kV8, lines, "JS:*mid /srv/node/chain.js:16:13") ==
        "0:/srv/node/chain.js:3:1 5:/srv/lib.js:4:2 9:/srv/node/chain.js:5:3");
  lines.resize(1);
  CHECK(read_lines(kV8, lines, "JS:*mid /srv/node/chain.js:16:13") == "0:/srv/node/chain.js:3:1");
  // Shorter than what the allocator wrote: nothing is left to go by.
  lines = {{code, 3, garbage.substr(0, 8), 1}, {code + 5, 4, garbage.substr(0, 8), 2}};
  CHECK(read_lines(kV8, lines, "JS:*mid chain.js:16:13") == "0::3:1 5::4:2");
}

TEST_CASE("jitdump lines that are not in order are left out, the code stays") {
  auto check_left_out = [](JitdumpBuilder dump) {
    JitLog log = read(dump.load(5, kCode, "f"));
    CHECK(text_of(log) == "load f 7f6786fc7040 40 @5");
    CHECK(log.codes.front().lines.empty());
    CHECK(log.codes.front().files.empty());
    CHECK(log.shortfalls == Shortfalls{{kBadLines, 1}});
  };
  std::string entry = raw_bytes<uint64_t>({kCode, 7}) + "a.c" + '\0';
  check_left_out(JitdumpBuilder().record(2, 0, raw_bytes<uint64_t>({kCode, 2}) + entry));
  check_left_out(JitdumpBuilder().record(2, 0, raw_bytes<uint64_t>({kCode, 1}) + entry + entry));
  check_left_out(JitdumpBuilder().record(2, 0, raw_bytes<uint64_t>({kCode, 0}) + entry));
  check_left_out(JitdumpBuilder().record(2, 0, raw_bytes<uint64_t>({kCode, uint64_t{1} << 60}) + entry));
  check_left_out(JitdumpBuilder().record(2, 0, raw_bytes<uint64_t>({kCode, 1, kCode, 7}) + "no end"));
  check_left_out(JitdumpBuilder().lines(kCode, {{0x1000, 3, "a.c"}, {uint64_t{1} << 63, 3, "a.c"}}));
}

TEST_CASE("jitdump lines outside the code are left out") {
  CHECK(read_lines({}, {{kCode, 3, "a.c"}, {kCode + 0x1000, 9, "cold.c"}, {kCode + 4, 4, "\xff"}}) ==
        "0:a.c:3:0 4:a.c:4:0");
}

TEST_CASE("jitdump lines belong to code by its start") {
  JitdumpBuilder dump;
  dump.lines(0x1000, {{0x1000, 1, "old"}})
      .lines(0x1000, {{0x1000, 1, "a"}})
      .lines(0x2000, {{0x2000, 2, "b"}});
  JitLog log = read(dump.load(1, 0x2000, "g").load(2, 0x1000, "f").load(3, 0x1000, "f again"));
  REQUIRE(log.codes.size() == 3);
  CHECK(log.codes[0].files == std::vector<std::string>{"b"});
  CHECK(log.codes[1].files == std::vector<std::string>{"a"});
  CHECK(log.codes[2].lines.empty());
}

TEST_CASE("jitdump times of other clocks are replaced by the look before") {
  LookTimes look{100'000'000'000, 200'000'000'000};
  JitdumpBuilder plain, arch({.flags = 1});
  for (JitdumpBuilder* dump : {&plain, &arch}) {
    dump->load(150'000'000'000, 0x1000, "now")
        .load(5, 0x2000, "long ago")
        .load(1796088423932010000, 0x3000, "wall clock");
  }
  JitLog log = read(plain, look);
  CHECK(text_of(log) ==
        "load now 1000 40 @150000000000, load long ago 2000 40 @5, load wall clock 3000 40 @100000000000");
  CHECK(log.shortfalls == Shortfalls{{kOtherClock, 1}});
  log = read(arch, look);
  CHECK(text_of(log) ==
        "load now 1000 40 @150000000000, load long ago 2000 40 @100000000000, load wall clock 3000 40 "
        "@100000000000");
  // Read after the run there is nothing to compare with.
  CHECK(text_of(read(JitdumpBuilder({.flags = 1}).load(7, 0x1000, "f"))) == "load f 1000 40 @0");
  CHECK(text_of(read(JitdumpBuilder().load(7, 0x1000, "f"))) == "load f 1000 40 @7");
}

TEST_CASE("a jitdump record counts from the look before its beginning") {
  JitdumpBuilder dump({.flags = 1});
  dump.load(1, 0x1000, "f").load(2, 0x2000, "g");
  JitLog log;
  JitdumpReader reader(1, true, log);
  uint64_t second = 1'000'000'000'000;
  reader.add(dump.bytes().first(60), {second, 2 * second});
  reader.add(dump.bytes().subspan(60), {2 * second, 3 * second});
  CHECK(text_of(log) == "load f 1000 40 @1000000000000, load g 2000 40 @2000000000000");
}

TEST_CASE("jitdumps are read without times where the samples have another clock") {
  JitLog log;
  JitdumpReader reader(1, false, log);
  reader.add(JitdumpBuilder().load(7, 0x1000, "f").move(8, 0x1000, 0x2000, 64).bytes(), {});
  CHECK(text_of(log) == "load f 1000 40 @0, move 1000 to 2000 40 @0");
}

TEST_CASE("a jitdump that is written anew or has lost a piece") {
  JitLog log;
  JitdumpReader reader(1, true, log);
  std::string torn =
      JitdumpBuilder().load(1, 0x1000, "f").lines(0x3000, {{0x3000, 1, "a"}}).raw("torn").text();
  reader.add(std::as_bytes(std::span(torn)), {});
  reader.begin_anew();
  reader.add(JitdumpBuilder(kV8).load(2, 0x3000, "g").bytes(), {});
  reader.lose_bytes();
  reader.add(JitdumpBuilder().load(3, 0x4000, "h").bytes(), {});
  reader.begin_anew();
  reader.add(JitdumpBuilder().load(4, 0x5000, "i").bytes(), {});
  reader.finish();
  CHECK(text_of(log) == "load f 1000 40 @1, load g 3000 40 @2, load i 5000 40 @4");
  CHECK(log.codes[1].lines.empty());
  CHECK(log.shortfalls == Shortfalls{{kTorn, 1}, {kNotToEnd, 1}});
}

}  // namespace jitprof
