// SPDX-License-Identifier: Apache-2.0
// Plug-in sniffers: the toy VM's, on samples that toy_vm took of itself, and plug-ins that break the rules.
#include "unwind/sniff/plugin.h"

#include <dlfcn.h>

#include "tests/catch.h"
#include "tests/programs/toy_vm/toy_vm.h"
#include "tests/run_program.h"
#include "tests/temp_dir.h"
#include "tests/unwind/own_stack.h"
#include "tests/unwind/unwinding.h"
#include "unwind/walk.h"

namespace jitprof {
namespace {

using tests::OwnStack;
using tests::TempDir;

std::string build_vm(const TempDir& folder, const std::string& compiler = "gcc") {
  std::string program = folder.file("toy_vm");
  tests::compile(compiler, {"-std=gnu11", "-O2"}, {"toy_vm/main.c", "toy_vm/toy_vm.c", "own_stack/capture.c"},
                 program);
  return program;
}

// Each under a name of its own: a library that is loaded twice is loaded once.
std::string build_plugin(const TempDir& folder, const std::string& source,
                         const std::vector<std::string>& spoilers = {}) {
  static int built = 0;
  std::string plugin = folder.file("plugin" + std::to_string(++built) + ".so");
  std::vector<std::string> flags = {"-std=c11", "-Wall", "-Wextra", "-Werror",
                                    "-shared",  "-fPIC", "-I",      JP_SOURCE_ROOT "/include"};
  flags.insert(flags.end(), spoilers.begin(), spoilers.end());
  tests::compile("gcc", flags, {"toy_vm/" + source}, plugin);
  return plugin;
}

// The walk of a toy_vm's own sample with the sniffers of some plug-ins.
class PluginWalk {
 public:
  PluginWalk(const OwnStack& own, const std::vector<std::string>& plugins) {
    for (const MapEvent& event : own.maps) processes_.apply(event);
    for (const std::string& plugin : plugins) {
      Status loaded = load_plugin(plugin, unwinding.sniffers);
      INFO((loaded.ok() ? "" : loaded.error().message));
      REQUIRE(loaded.ok());
    }
    const Process& process = processes_.process(own.sample.pid);
    unwind(own.sample, processes_, process, unwinding.places, kDefaultMaxDepth, stack);
  }

  bool is_toy(size_t frame) const { return module_of(frame).kind == Module::Kind::kAnonymous; }
  // Where in the toy code's block a frame stands.
  uint64_t in_block(size_t frame) const { return stack.frames[frame].position.value % kToyBlock; }
  std::string sniffer_of(size_t frame) const {
    return unwinding.sniffers.entry({stack.frames[frame].sniffer}).name;
  }

  // The functions of toy_vm and of toy code, leaf first: "captures;f0;enter;toy_run;main".
  std::string functions() const {
    std::string text;
    for (size_t i = 0; i < stack.frames.size(); ++i) {
      std::string name = is_toy(i) ? toy_function(in_block(i)) : native_function(i);
      if (!name.empty()) text += (text.empty() ? "" : ";") + name;
    }
    return text;
  }
  static std::string toy_function(uint64_t in_block) {
    uint64_t slot = in_block / kToySlot;
    return slot == 0 ? "enter" : "f" + std::to_string(slot - 1);
  }

 private:
  const Module& module_of(size_t frame) const { return modules_.module(stack.frames[frame].module); }
  std::string native_function(size_t frame) const {
    const Module& module = module_of(frame);
    if (module.name() != "toy_vm" || !module.elf) return "";
    ElfAddr position = stack.frames[frame].position;
    for (const ElfSymbol& symbol : module.elf->code_symbols()) {
      bool is_inside = symbol.start <= position && position.distance_from(symbol.start) < symbol.size;
      if (is_inside && symbol.name != "_start") return std::string(symbol.name);
    }
    return "";
  }

  ModuleTable modules_{""};
  ProcessTable processes_{modules_};

 public:
  tests::Unwinding unwinding{modules_};
  UnwoundStack stack;
};

// What is wrong with loading a plug-in, "" if nothing is.
std::string problem_with(const std::string& plugin) {
  Sniffers sniffers;
  Status loaded = load_plugin(plugin, sniffers);
  return loaded.ok() ? "" : loaded.error().message;
}

std::string garbage(const TempDir& folder, const std::vector<std::string>& spoilers) {
  return build_plugin(folder, "garbage_sniffer.c", spoilers);
}

bool has(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

const char* const kSampleChain = "capture;captures;f0;f2;f1;f0;f2;f1;f0;f2;f1;f0;enter;toy_run;main";

}  // namespace

TEST_CASE("a plug-in unwinds its VM's frames, and native code goes on with the registers it gives") {
  TempDir folder;
  std::string compiler = GENERATE(as<std::string>(), "gcc", "clang-16");
  OwnStack own(build_vm(folder, compiler), "sample");
  std::string plugin = build_plugin(folder, "toy_vm_sniffer.c");

  PluginWalk with(own, {plugin});
  CHECK(with.stack.stop == StopReason::kReachedRoot);
  CHECK(with.functions() == kSampleChain);
  CHECK(with.unwinding.places.refusals().empty());
  for (size_t i = 1; i < with.stack.frames.size(); ++i) {
    INFO(i);
    CHECK(with.sniffer_of(i) == (with.is_toy(i - 1) ? "toy-vm" : "cfi"));
  }

  PluginWalk without(own, {});
  CHECK(without.stack.stop == StopReason::kNoUnwindInfo);
  CHECK(without.functions() == "capture;captures;f0");
}

TEST_CASE("a plug-in's program-space sniffer is not asked in processes without its object") {
  TempDir folder;
  OwnStack own(build_vm(folder), "sample");
  for (MapEvent& map : own.maps) {
    if (map.path.ends_with("/toy_vm")) map.path = "/usr/bin/other_vm";
  }
  PluginWalk walk(own, {build_plugin(folder, "toy_vm_sniffer.c")});
  CHECK(walk.stack.stop != StopReason::kReachedRoot);
}

TEST_CASE("toy code is unwound at each of its instructions") {
  TempDir folder;
  std::string program = build_vm(folder);
  std::string plugin = build_plugin(folder, "toy_vm_sniffer.c");
  unsigned long steps = std::stoul(tests::run_program({program, "steps"}).out);
  REQUIRE(steps > 60);
  std::vector<std::string> callers;  // of the function that runs, outermost first
  for (unsigned long step = 1; step <= steps; ++step) {
    INFO("instruction " << step << " of " << steps);
    PluginWalk walk(OwnStack(program, std::to_string(step)), {plugin});
    size_t interrupted = 0;
    while (interrupted < walk.stack.frames.size() && !walk.is_toy(interrupted)) ++interrupted;
    REQUIRE(interrupted < walk.stack.frames.size());
    uint64_t at = walk.in_block(interrupted);
    std::string function = PluginWalk::toy_function(at);
    if (at % kToySlot == 0) callers.push_back(function);

    std::string expected = "capture;on_step";
    for (auto caller = callers.rbegin(); caller != callers.rend(); ++caller) expected += ";" + *caller;
    expected += ";toy_run;step_through;main";
    CHECK(walk.stack.stop == StopReason::kReachedRoot);
    CHECK(walk.functions() == expected);

    bool returns = function == "enter" ? at == kToyReturnsToC : at % kToySlot == kToyReturns;
    if (returns) callers.pop_back();
  }
  CHECK(callers.empty());
}

TEST_CASE("a plug-in says truncated where the recorded stack ends among its frames") {
  TempDir folder;
  std::string program = build_vm(folder);
  std::string plugin = build_plugin(folder, "toy_vm_sniffer.c");
  std::string chain = kSampleChain;
  // From within captures() to within the way in.
  for (int bytes = 96; bytes < 520; bytes += 40) {
    INFO(bytes);
    PluginWalk walk(OwnStack(program, "sample", std::to_string(bytes)), {plugin});
    CHECK(walk.stack.stop == StopReason::kTruncated);
    CHECK(chain.starts_with(walk.functions()));
  }
}

TEST_CASE("what a plug-in may ask for is given as its header says") {
  TempDir folder;
  OwnStack own(build_vm(folder), "sample");
  std::string plugin = build_plugin(folder, "probe_sniffer.c");
  PluginWalk walk(own, {plugin});
  void* library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library != nullptr);
  const auto* failure = static_cast<const char* const*>(dlsym(library, "probe_failure"));
  CHECK((*failure == nullptr ? "" : std::string(*failure)) == "");
  CHECK(*static_cast<const unsigned*>(dlsym(library, "probe_native_frames")) >= 2);
  CHECK(*static_cast<const unsigned*>(dlsym(library, "probe_toy_frames")) == 1);
  CHECK(walk.functions() == "capture;captures;f0");
  dlclose(library);
}

TEST_CASE("answers that break the rules are refused, counted, and the next sniffer is asked") {
  const std::pair<std::string, SnifferRefusal> kSpoilt[] = {
      {"-DSPOIL=answer->cfa=frame->callee_cfa", SnifferRefusal::kNoProgress},
      {"-DSPOIL=answer->cfa=frame->callee_cfa-64", SnifferRefusal::kNoProgress},
      {"-DSPOIL=answer->cfa=frame->callee_cfa+1", SnifferRefusal::kUnaligned},
      {"-DSPOIL=answer->cfa=UINT64_MAX", SnifferRefusal::kOffTheStack},
      {"-DSPOIL=jitprof_set_register(answer,JITPROF_RSP,0)", SnifferRefusal::kOffTheStack},
      {"-DSPOIL=answer->known_registers=1u<<JITPROF_RSP", SnifferRefusal::kLacksRegisters},
      {"-DSPOIL=answer->known_registers=0", SnifferRefusal::kLacksRegisters},
      {"-DSPOIL=answer->known_registers=UINT32_MAX", SnifferRefusal::kLacksRegisters},
      {"-DSPOIL=answer->stop=3", SnifferRefusal::kLacksRegisters},
      {"-DSPOIL=answer->caller_was_interrupted=2", SnifferRefusal::kLacksRegisters},
      {"-DSPOIL=answer->cfa+=8", SnifferRefusal::kNotTheCfa},
      {"-DSPOIL=jitprof_set_register(answer,JITPROF_RIP,0x1234)", SnifferRefusal::kNoCode},
      {"-DSPOIL=jitprof_set_register(answer,JITPROF_RIP,~0x1234ull)", SnifferRefusal::kNoCode},
      {"-DVERDICT=77", SnifferRefusal::kLacksRegisters},
  };
  TempDir folder;
  OwnStack own(build_vm(folder), "sample");
  std::string good = build_plugin(folder, "toy_vm_sniffer.c");
  for (const auto& [spoiler, reason] : kSpoilt) {
    INFO(spoiler);
    PluginWalk walk(own, {good, garbage(folder, {spoiler})});
    CHECK(walk.functions() == kSampleChain);
    CHECK(walk.stack.stop == StopReason::kReachedRoot);
    const PlaceCache::Refusals& refusals = walk.unwinding.places.refusals();
    REQUIRE(refusals.size() == 1);
    auto [what, count] = *refusals.begin();
    CHECK(walk.unwinding.sniffers.entry(what.first).name == "garbage");
    CHECK(what.second == reason);
    CHECK(count == 11);  // toy frames and the way in
  }
}

TEST_CASE("a plug-in that makes frames up without end is stopped by the size of the stack") {
  TempDir folder;
  OwnStack own(build_vm(folder), "sample");
  PluginWalk walk(own, {garbage(folder, {})});
  CHECK(walk.stack.stop == StopReason::kDepthLimit);
}

TEST_CASE("what cannot be loaded says which file, why, and what to do") {
  TempDir folder;
  auto refused = [](const std::string& plugin, const std::string& reason, const std::string& fix) {
    std::string problem = problem_with(plugin);
    CHECK(has(problem, "'" + plugin + "'"));
    CHECK(has(problem, reason));
    CHECK(has(problem, fix));
  };
  refused(folder.file("none.so"), "No such file", "");
  refused(folder.path(), "no regular file", "");
  refused(folder.write("text.so", "not a library"), "file too short", "cc -shared -fPIC");
  refused(garbage(folder, {"-DUNWIND=defined_nowhere"}), "undefined symbol", "cc -shared -fPIC");
  refused(garbage(folder, {"-DLIST=other_name"}), "does not export 'jitprof_sniffers'",
          "<jitprof/sniffer.h>");
  refused(garbage(folder, {"-DVERSION=2"}), "version 2", "understands version 1");
  refused(garbage(folder, {"-DSNIFFER_SIZE=8"}), "8 bytes", "sizeof(struct jitprof_sniffer)");
  refused(garbage(folder, {"-DCOUNT=0"}), "lists 0", "1 to 64");
  refused(garbage(folder, {"-DCOUNT=4000000000"}), "lists 4000000000", "1 to 64");
  refused(garbage(folder, {"-DSNIFFERS=NULL"}), "lists 0", "1 to 64");
  for (const char* name : {"NULL", "\"\"", "\"a b\"", "\"a\\nb\"", "\"a/b\""}) {
    refused(garbage(folder, {std::string("-DNAME=") + name}), "the name of a sniffer", "letters, digits");
  }
  refused(garbage(folder, {"-DNAME=\"" + std::string(65, 'x') + "\""}), "the name", "1 to 64 letters");
  refused(garbage(folder, {"-DLOCUS=3"}), "'garbage' has the locus 3", "0 to 2");
  refused(garbage(folder, {"-DLOCUS=JITPROF_OBJECT_FILE"}), "names none", "set object");
  refused(garbage(folder, {"-DLOCUS=JITPROF_GLOBAL", "-DOBJECT=\"vm\""}), "is global", "program-space");
  refused(garbage(folder, {"-DOBJECT=\"/usr/bin/vm\""}), "other than a file name", "last part");
  refused(garbage(folder, {"-DOBJECT=\"\""}), "other than a file name", "last part");
  refused(garbage(folder, {"-DUNWIND=NULL"}), "no unwind function", "");
}

TEST_CASE("a plug-in may hold a name once in each locus, whoever had it first") {
  TempDir folder;
  Sniffers sniffers;
  REQUIRE(load_plugin(garbage(folder, {}), sniffers).ok());
  REQUIRE(load_plugin(garbage(folder, {"-DLOCUS=JITPROF_GLOBAL"}), sniffers).ok());
  std::string again = garbage(folder, {});
  Status twice = load_plugin(again, sniffers);
  REQUIRE_FALSE(twice.ok());
  CHECK(has(twice.error().message, "'" + again + "'"));
  CHECK(has(twice.error().message, "already a sniffer 'garbage'"));
  CHECK(sniffers.order().size() == 7);

  // By that name users turn the tables off, whatever the locus.
  std::string cfi = garbage(folder, {"-DNAME=\"cfi\"", "-DLOCUS=JITPROF_PROGRAM_SPACE", "-DOBJECT=\"vm\""});
  CHECK(has(problem_with(cfi), "the name 'cfi' is that of the unwind tables"));
}

TEST_CASE("a plug-in of a later jitprof, whose structs are larger, is read by its own sizes") {
  TempDir folder;
  std::string plugin = build_plugin(folder, "later_sniffer.c");
  Sniffers sniffers;
  REQUIRE(load_plugin(plugin, sniffers).ok());
  CHECK(sniffers.set_enabled("one", false).ok());
  CHECK(sniffers.set_enabled("two", false).ok());
}

}  // namespace jitprof
