// SPDX-License-Identifier: Apache-2.0
#include "output/profile_builder.h"

#include <elf.h>

#include <cstdio>

#include "output/view.h"
#include "tests/catch.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"

using namespace jitprof;

namespace {

constexpr const char* kSource = R"(
static volatile int sink;
static inline __attribute__((always_inline)) void bump() { sink = sink + 1; }
__attribute__((noinline)) void work() { bump(); }
int main() { work(); }
)";

// The program, and one run's modules with it mapped.
struct Run {
  explicit Run(const std::string& program) : modules("") {
    ElfFile elf = std::move(ElfFile::open(program).value());
    MapEvent mapping;
    for (const ElfSegment& segment : elf.segments()) {
      if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
      mapping.start = {0x5000'0000};
      mapping.size = segment.memory_size;
      mapping.offset = segment.offset;
    }
    mapping.path = program;
    mapping.is_executable = true;
    module = modules.resolve(mapping).id;
    for (const ElfSymbol& symbol : elf.code_symbols()) {
      if (symbol.name == "_Z4workv") work = symbol.start;
      if (symbol.name == "main") main = symbol.start;
    }
  }
  Frame at(ElfAddr position, FrameOrigin origin) const {
    Frame frame;
    frame.module = module;
    frame.position = position;
    frame.origin = origin;
    return frame;
  }
  ModuleTable modules;
  ModuleId module;
  ElfAddr work;
  ElfAddr main;
};

std::string compiled(const tests::TempDir& dir, const std::string& link) {
  std::string program = dir.file("program");
  tests::compile("g++", {"-O2", "-g", link}, {dir.write("program.cc", kSource)}, program);
  return program;
}

std::string stack_text(const Profile& profile, StackId stack) {
  std::vector<ShownFrame> shown;
  expand(profile, View(), stack, shown);
  std::string text;
  for (const ShownFrame& frame : shown) {
    text += (text.empty() ? "" : ";") + std::string(profile.names.name(frame.function));
  }
  return text;
}

}  // namespace

TEST_CASE("equal stacks are one, whatever found their frames, and frames get names once") {
  tests::TempDir dir;
  Run run(compiled(dir, "-pie"));
  ProfileBuilder builder;
  builder.profile().value_types = {{"samples", "count", 0, false}};
  builder.begin_run(run.modules);
  ProfileBuilder::Context context;
  context.thread = builder.add_thread({1, 1, 0, "program"});
  context.period = 7;
  UnwoundStack stack;
  stack.frames = {run.at(run.work, FrameOrigin::kTop), run.at(run.main, FrameOrigin::kSniffed)};
  builder.add(context, stack);
  stack.frames[1].origin = FrameOrigin::kRecordedChain;
  builder.add(context, stack);
  stack.stop = StopReason::kTruncated;
  builder.add(context, stack);
  stack.frames.erase(stack.frames.begin());
  builder.add(context, stack);
  builder.add(context, UnwoundStack());
  Symbolizer symbolizer(run.modules, DebugSearch(), builder.profile().names);
  builder.finish_run(symbolizer);

  const Profile& profile = builder.profile();
  REQUIRE(profile.rows.size() == 5);
  CHECK(profile.rows[0].stack == profile.rows[1].stack);
  CHECK(profile.rows[0].weight == 7);
  CHECK(profile.frames.size() == 4);  // work, main, [truncated], [unreadable]
  CHECK(stack_text(profile, profile.rows[0].stack) == "main;work;bump");
  CHECK(stack_text(profile, profile.rows[2].stack) == "[truncated];main;work;bump");
  CHECK(stack_text(profile, profile.rows[3].stack) == "[truncated];main");
  CHECK(stack_text(profile, profile.rows[4].stack) == "[unreadable]");
  REQUIRE(profile.modules.size() == 1);
  CHECK(profile.modules[0].has_functions);
  CHECK(profile.modules[0].has_lines);
}

TEST_CASE("the profile keeps where a module's code lies") {
  tests::TempDir dir;
  bool fixed = GENERATE(true, false);
  std::string program = compiled(dir, fixed ? "-no-pie" : "-pie");
  Run run(program);
  ProfileBuilder builder;
  builder.begin_run(run.modules);
  UnwoundStack stack;
  stack.frames = {run.at(run.work, FrameOrigin::kTop)};
  builder.add({}, stack);
  const ProfileModule& module = builder.profile().modules.at(0);
  CHECK(module.path == program);
  CHECK_FALSE(module.build_id.empty());
  CHECK(module.is_fixed == fixed);
  REQUIRE(module.text.size() == 1);
  CHECK(run.work >= module.text[0].start);
  CHECK(run.work.distance_from(module.text[0].start) < module.text[0].size);
}

TEST_CASE("runs of one program share frames, and rows tell them apart") {
  tests::TempDir dir;
  std::string program = compiled(dir, "-pie");
  ProfileBuilder builder;
  for (int number = 0; number < 2; ++number) {
    Run run(program);
    builder.begin_run(run.modules);
    UnwoundStack stack;
    stack.frames = {run.at(run.work, FrameOrigin::kTop), run.at(run.main, FrameOrigin::kSniffed)};
    builder.add({}, stack);
    Symbolizer symbolizer(run.modules, DebugSearch(), builder.profile().names);
    builder.finish_run(symbolizer);
  }
  const Profile& profile = builder.profile();
  CHECK(profile.frames.size() == 2);
  CHECK(profile.rows[0].stack == profile.rows[1].stack);
  CHECK(profile.rows[0].run == 0);
  CHECK(profile.rows[1].run == 1);
}

TEST_CASE("frames left out are one bracket frame between the ends of the stack") {
  tests::TempDir dir;
  Run run(compiled(dir, "-pie"));
  ProfileBuilder builder;
  builder.begin_run(run.modules);
  Frame work = run.at(run.work, FrameOrigin::kTop);
  Frame main = run.at(run.main, FrameOrigin::kSniffed);
  UnwoundStack whole{.frames = {work, main, main, main}};
  UnwoundStack cut{.frames = {work, main, main, main}, .elided = {.at = 2, .count = 7}};
  UnwoundStack cut_more{.frames = {work, main, main, main}, .elided = {.at = 2, .count = 8}};
  UnwoundStack cut_elsewhere{.frames = {work, main, main, main}, .elided = {.at = 3, .count = 7}};
  for (const UnwoundStack& stack : {whole, cut, cut, cut_more, cut_elsewhere, whole, cut})
    builder.add({}, stack);
  Symbolizer symbolizer(run.modules, DebugSearch(), builder.profile().names);
  builder.finish_run(symbolizer);

  const Profile& profile = builder.profile();
  std::vector<std::string> texts;
  for (const ProfileRow& row : profile.rows) texts.push_back(stack_text(profile, row.stack));
  CHECK(texts ==
        std::vector<std::string>{"main;main;main;work;bump", "main;main;[elided 7 frames];main;work;bump",
                                 "main;main;[elided 7 frames];main;work;bump",
                                 "main;main;[elided 8 frames];main;work;bump",
                                 "main;[elided 7 frames];main;main;work;bump", "main;main;main;work;bump",
                                 "main;main;[elided 7 frames];main;work;bump"});
  CHECK(profile.rows[1].stack == profile.rows[6].stack);
  CHECK(profile.rows[0].stack == profile.rows[5].stack);
}

TEST_CASE("the profile counts who found its frames") {
  tests::TempDir dir;
  ProfileBuilder builder;
  std::string program = compiled(dir, "-pie");
  for (int number = 0; number < 2; ++number) {
    Run run(program);
    builder.begin_run(run.modules);
    Frame top = run.at(run.work, FrameOrigin::kTop);
    Frame by_cfi = run.at(run.main, FrameOrigin::kSniffed);
    Frame by_other = by_cfi, doubtful = by_cfi;
    by_other.sniffer = 3;
    doubtful.follows_no_call = true;
    builder.add({}, {.frames = {top, by_cfi, by_cfi, by_other, doubtful}});
    builder.add({}, {.frames = {top, run.at(run.main, FrameOrigin::kRecordedChain)}});
    builder.add({}, {});
    Symbolizer symbolizer(run.modules, DebugSearch(), builder.profile().names);
    builder.finish_run(symbolizer);
  }
  const UnwindingCounts& counts = builder.profile().unwinding;
  CHECK(counts.top == 4);
  CHECK(counts.recorded_chain == 2);
  CHECK(counts.by_sniffer[0] == 6);
  CHECK(counts.by_sniffer[3] == 2);
  CHECK(counts.following_no_call == std::map<ModuleId, uint64_t>{{ModuleId{0}, 2}});
}

TEST_CASE("module names need no symbols") {
  tests::TempDir dir;
  std::string program = compiled(dir, "-pie");
  Run run(program);
  ProfileBuilder builder;
  builder.begin_run(run.modules);
  Frame kernel{.module = run.modules.resolve({.in_kernel = true, .path = "[kernel.kallsyms]_text"}).id,
               .in_kernel = true,
               .position = {0xffff1234}};
  builder.add({}, {.frames = {kernel, run.at(run.work, FrameOrigin::kTop), Frame{.position = {0x77}}}});
  Symbolizer symbolizer(run.modules, DebugSearch(), builder.profile().names, NameDetail::kModule);
  symbolizer.set_kernel_symbols(std::as_bytes(std::span(std::string_view("ffff1000 t some_function\n"))));
  builder.finish_run(symbolizer);
  char work[64];
  std::snprintf(work, sizeof work, "program+0x%llx", static_cast<unsigned long long>(run.work.value));
  CHECK(stack_text(builder.profile(), builder.profile().rows[0].stack) ==
        std::string("0x77;") + work + ";[kernel]+0xffff1234");
  CHECK(symbolizer.shortfalls().empty());
}
