// SPDX-License-Identifier: Apache-2.0
#include "output/format/pprof.h"

#include <sstream>

#include "output/format/pprof_layout.h"
#include "tests/catch.h"
#include "tests/output/random_profile.h"
#include "tests/output/text_profile.h"
#include "tests/output/wire_reader.h"

using namespace jitprof;
using tests::WireMessage;

namespace {

// A pprof file as its readers see it.
class PprofFile {
 public:
  PprofFile(const Profile& profile, const View& view) : bytes_(decoded(profile, view)), file_(bytes_) {
    texts_ = file_.texts(6);
  }
  const WireMessage& message() const { return file_; }
  std::string text(uint64_t index) const { return std::string(texts_.at(index)); }
  std::vector<WireMessage> samples() const { return file_.messages(2); }
  std::vector<WireMessage> mappings() const { return file_.messages(3); }
  std::vector<WireMessage> locations() const { return file_.messages(4); }
  std::vector<WireMessage> functions() const { return file_.messages(5); }
  std::string function_name(uint64_t id) const { return text(functions().at(id - 1).number(2)); }
  // "add:3<step:7": a location's lines, innermost first.
  std::string lines(const WireMessage& location) const {
    std::string text;
    for (const WireMessage& line : location.messages(4)) {
      text +=
          (text.empty() ? "" : "<") + function_name(line.number(1)) + ":" + std::to_string(line.number(2));
    }
    return text;
  }
  // Leaf first, by location.
  std::string stack(const WireMessage& sample) const {
    std::string text;
    for (uint64_t id : sample.packed(1)) text += (text.empty() ? "" : ";") + lines(locations().at(id - 1));
    return text;
  }

 private:
  static std::string decoded(const Profile& profile, const View& view) {
    std::ostringstream out;
    write_pprof(profile, view, out);
    return tests::gunzip(out.str());
  }
  std::string bytes_;
  WireMessage file_;
  std::vector<std::string_view> texts_;
};

void check_numbered(const std::vector<WireMessage>& table) {
  for (size_t index = 0; index < table.size(); ++index) CHECK(table[index].number(1) == index + 1);
}

SourceFrame line_of(FunctionId function, uint32_t line) {
  SourceFrame made;
  made.function = function;
  made.line = line;
  return made;
}

ProfileFrame frame_at(uint32_t module, uint64_t position, FunctionId function) {
  ProfileFrame frame;
  frame.module = {module};
  frame.position = {position};
  frame.lines.push_back(line_of(function, 1));
  return frame;
}

}  // namespace

TEST_CASE("pprof samples carry all values, the stack leaf first, and labels") {
  Profile profile =
      tests::parse_text_profile("@5/6 worker\nmain;work;step_[i] 3\n#event 1\nmain;work;step_[i] 1\n");
  PprofFile file(profile, View());
  REQUIRE(file.samples().size() == 1);
  WireMessage sample = file.samples().front();
  CHECK(file.stack(sample) == "step:0<work:0;main:0");
  CHECK(sample.packed(2) == std::vector<uint64_t>{3, 3'000'003, 1, 1'000'003});
  std::string labels;
  for (const WireMessage& label : sample.messages(3)) {
    labels += file.text(label.number(1)) + "=" +
              (label.number(2) != 0 ? file.text(label.number(2)) : std::to_string(label.number(3))) + " ";
  }
  CHECK(labels == "pid=5 tid=6 comm=worker ");
  std::string types;
  for (const WireMessage& type : file.message().messages(1)) {
    types += file.text(type.number(1)) + "/" + file.text(type.number(2)) + " ";
  }
  CHECK(types == "samples/count cpu/nanoseconds cycles.samples/count cycles/count ");
}

TEST_CASE("pprof samples are summed by stack and thread") {
  Profile profile = tests::parse_text_profile("main;a 3\n@1/2 other\nmain;a 4\nmain;b 1\nmain;a 2\n");
  PprofFile file(profile, View());
  std::vector<uint64_t> counts;
  for (const WireMessage& sample : file.samples()) counts.push_back(sample.packed(2)[0]);
  CHECK(counts == std::vector<uint64_t>{3, 6, 1});
}

TEST_CASE("pprof without inlined functions names physical ones only") {
  View view;
  view.inlined = false;
  PprofFile file(tests::parse_text_profile("main;work;step_[i];add_[i] 1\n"), view);
  CHECK(file.stack(file.samples().front()) == "work:0;main:0");
  CHECK(file.functions().size() == 2);
}

TEST_CASE("pprof tables are numbered from 1 in their order, and all references hold") {
  Profile profile = tests::parse_text_profile(tests::random_text_profile(GENERATE(1u, 2u, 3u)));
  PprofFile file(profile, View());
  check_numbered(file.mappings());
  check_numbered(file.locations());
  check_numbered(file.functions());
  CHECK(file.text(0).empty());
  for (const WireMessage& sample : file.samples()) {
    for (uint64_t id : sample.packed(1)) CHECK((id >= 1 && id <= file.locations().size()));
  }
  for (const WireMessage& location : file.locations()) {
    CHECK(location.number(2) <= file.mappings().size());
    CHECK_FALSE(location.messages(4).empty());
  }
}

TEST_CASE("pprof functions are told apart by name, mangled name and file") {
  tests::ProfileMaker maker;
  maker.profile.value_types = {{"samples", "count", 0, false}};
  FunctionId functions[] = {maker.function("f", "f(int)", "_Z1fi", "a.cc", 3),
                            maker.function("f", "f(char)", "_Z1fc", "a.cc", 9),
                            maker.function("f", "f", "", "b.cc"), maker.function("f", "f", "", "")};
  ProfileThreadId thread = maker.thread(1, 1, "main");
  for (FunctionId function : functions) {
    ProfileFrame frame;
    frame.position = {function.index};
    frame.lines.push_back(line_of(function, 5));
    frame.lines.push_back(line_of(functions[0], 6));
    maker.rows(maker.stack({}, maker.frame(frame)), thread, 1);
  }
  PprofFile file(maker.profile, View());
  std::string table;
  for (const WireMessage& function : file.functions()) {
    table += file.text(function.number(2)) + "|" + file.text(function.number(3)) + "|" +
             file.text(function.number(4)) + "|" + std::to_string(function.number(5)) + " ";
  }
  CHECK(table == "f|_Z1fi|a.cc|3 f|_Z1fc|a.cc|9 f||b.cc|0 f|||0 ");
}

TEST_CASE("a bracket frame is a pprof location without a place") {
  PprofFile file(tests::parse_text_profile("[truncated];f 2\n"), View());
  CHECK(file.stack(file.samples().front()) == "f:0;[truncated]:0");
  WireMessage bracket = file.locations().back();
  CHECK(bracket.number(2) == 0);
  CHECK(bracket.number(3) == 0);
}

TEST_CASE("pprof's header") {
  Profile profile = tests::parse_text_profile("main 1\n");
  profile.start_wall_ns = 1'700'000'000'000'000'000;
  profile.duration_ns = 5'000'000'000;
  profile.sample_period = 1'001'001;
  profile.command = "./a \xff";
  profile.lost = 3;
  PprofFile file(profile, View());
  CHECK(file.message().number(9) == profile.start_wall_ns);
  CHECK(file.message().number(10) == profile.duration_ns);
  CHECK(file.text(file.message().messages(11).front().number(1)) == "cpu");
  CHECK(file.message().number(12) == profile.sample_period);
  CHECK(file.text(file.message().number(14)) == "cpu");
}

TEST_CASE("pprof mappings lead from a place back to the position in the file") {
  tests::ProfileMaker maker;
  maker.profile.value_types = {{"samples", "count", 0, false}};
  maker.profile.command = "/bin/fixed --x";
  std::byte id[] = {std::byte{0xab}, std::byte{0x01}};
  // A library whose segments lie elsewhere in memory than in the file, with two executable ones (lld does
  // both).
  maker.profile.modules.push_back({.path = "/lib/odd.so",
                                   .build_id = BuildId(id),
                                   .text = {{{0x3f40}, 0x500, {0x1f40}}, {{0x9000}, 0x100, {0x4000}}}});
  maker.profile.modules.push_back(
      {.path = "/usr/bin/fixed", .is_fixed = true, .text = {{{0x401000}, 0x2345, {0x1000}}}});
  maker.profile.modules.push_back({.path = "/gone"});
  FunctionId function = maker.function("f");
  ProfileThreadId thread = maker.thread(1, 1, "main");
  const std::pair<uint32_t, uint64_t> positions[] = {{0, 0x4000},   {0, 0x3f40}, {0, 0x9010},
                                                     {1, 0x402000}, {2, 0x77},   {2, 0x12345}};
  for (const auto& [module, position] : positions) {
    maker.rows(maker.stack({}, maker.frame(frame_at(module, position, function))), thread, 1);
  }
  PprofFile file(maker.profile, View());
  REQUIRE(file.mappings().size() == 4);
  CHECK(file.text(file.mappings()[0].number(5)) == "/usr/bin/fixed");
  CHECK(file.mappings()[0].number(2) == 0x401000);
  CHECK(file.text(file.mappings()[1].number(6)) == "ab01");
  uint64_t last_limit = 0;
  for (const WireMessage& mapping : file.mappings()) {
    CHECK(mapping.number(2) % 4096 == 0);
    CHECK(mapping.number(4) % 4096 == 0);
    CHECK(mapping.number(2) > last_limit);
    last_limit = mapping.number(3);
    for (uint32_t flag = 7; flag <= 10; ++flag) CHECK(mapping.number(flag) == 1);
  }
  // What readers compute: file offset = place - start + offset; ElfAddr by the PT_LOAD that holds that
  // offset.
  const uint64_t offsets[] = {0x2000, 0x1f40, 0x4010, 0x2000};
  for (size_t index = 0; index < 6; ++index) {
    WireMessage location = file.locations()[index];
    WireMessage mapping = file.mappings()[location.number(2) - 1];
    CHECK(location.number(3) >= mapping.number(2));
    CHECK(location.number(3) < mapping.number(3));
    if (index < 4) CHECK(location.number(3) - mapping.number(2) + mapping.number(4) == offsets[index]);
  }
  CHECK(file.locations()[3].number(3) == 0x402000);
}

TEST_CASE("pprof groups code of no file and names the kernel's") {
  tests::ProfileMaker maker;
  maker.profile.value_types = {{"samples", "count", 0, false}};
  maker.profile.modules.push_back({.path = "//anon"});
  maker.profile.modules.push_back({.path = "[kernel]"});
  FunctionId function = maker.function("f");
  ProfileFrame jit = frame_at(0, 0x7fff'1234'5678, function);
  jit.kind = ProfileFrame::Kind::kJit;
  ProfileFrame kernel = frame_at(1, 0xffff'ffff'8100'0010, function);
  kernel.kind = ProfileFrame::Kind::kKernel;
  ProfileFrame unmapped = frame_at(0, 0x1234, function);
  unmapped.module = {};
  ProfileThreadId thread = maker.thread(1, 1, "main");
  for (const ProfileFrame& frame : {jit, kernel, unmapped})
    maker.rows(maker.stack({}, maker.frame(frame)), thread, 1);
  PprofFile file(maker.profile, View());
  REQUIRE(file.mappings().size() == 2);
  CHECK(file.text(file.mappings()[0].number(5)) == "[jit]");
  CHECK(file.text(file.mappings()[1].number(5)) == "[kernel.kallsyms]");
  CHECK(file.locations()[0].number(3) == jit.position.value);
  CHECK(file.locations()[1].number(3) == kernel.position.value);
  CHECK(file.locations()[2].number(2) == 0);
  CHECK(file.locations()[2].number(3) == 0x1234);
}
