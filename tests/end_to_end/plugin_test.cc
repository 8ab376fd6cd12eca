// SPDX-License-Identifier: Apache-2.0
// Plug-in sniffers as a user gives them to a report: the toy VM's, and plug-ins that are refused.
#include <algorithm>

#include "tests/catch.h"
#include "tests/end_to_end/jitprof_command.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

// A recording of toy code at work, and the plug-in that knows it.
struct RecordedToy {
  RecordedToy() {
    std::string program = folder.file("toy_vm");
    compile("gcc", {"-std=gnu11", "-O2", "-g"}, {"toy_vm/main.c", "toy_vm/toy_vm.c", "own_stack/capture.c"},
            program);
    jitprof_output({"record", "-o", recording, program, "burn"});
    build("toy_vm_sniffer.c", plugin);
  }
  void build(const std::string& source, const std::string& library,
             const std::vector<std::string>& spoilers = {}) const {
    std::vector<std::string> flags = {"-std=c11", "-shared", "-fPIC", "-I", JP_SOURCE_ROOT "/include"};
    flags.insert(flags.end(), spoilers.begin(), spoilers.end());
    compile("gcc", flags, {"toy_vm/" + source}, library);
  }

  TempDir folder;
  std::string recording = folder.file("toy.data");
  std::string plugin = folder.file("toy_vm_sniffer.so");
};

bool is_toy_code(const std::string& frame) { return frame.starts_with("anon+"); }

uint64_t incomplete(const std::vector<FoldedStack>& stacks) {
  uint64_t sum = 0;
  for (const FoldedStack& stack : stacks) sum += stack.frames[0].starts_with('[') ? stack.value : 0;
  return sum;
}

ProgramResult report(const RecordedToy& toy, std::vector<std::string> options) {
  options.insert(options.begin(), {"report", "-f", "folded"});
  options.push_back(toy.recording);
  return jitprof(options);
}

}  // namespace

TEST_CASE("a plug-in takes a report's stacks through its VM to their root") {
  RecordedToy toy;
  auto without = folded(toy.recording);
  auto with = folded(toy.recording, {"--sniffer", toy.plugin});
  CHECK(total(with) == total(without));
  CHECK(incomplete(without) > total(without) / 2);
  uint64_t through_toy_code = 0;
  for (const FoldedStack& stack : with) {
    auto toy_frame = std::find_if(stack.frames.begin(), stack.frames.end(), is_toy_code);
    if (toy_frame == stack.frames.end()) continue;
    INFO(stack.frames.front() << " … " << stack.frames.back());
    through_toy_code += stack.value;
    REQUIRE(toy_frame - stack.frames.begin() >= 2);
    CHECK(toy_frame[-1] == "toy_run");
    CHECK(toy_frame[-2] == "main");
    CHECK(stack.frames.front() == "_start");
  }
  CHECK(through_toy_code > total(with) / 2);

  CHECK(report(toy, {"--sniffer", toy.plugin, "--disable-sniffer", "toy-vm"}).out == report(toy, {}).out);
  std::string listed = jitprof_output({"info", "--sniffers", "--sniffer", toy.plugin});
  CHECK(listed.find("toy-vm") < listed.find("frame-pointer"));
  CHECK(jitprof_output({"script", "--verbose", "--sniffer", toy.plugin, toy.recording}).find("toy-vm") !=
        std::string::npos);
}

TEST_CASE("a plug-in that answers garbage is named below the report, which goes on with the next sniffer") {
  RecordedToy toy;
  std::string report_with = report(toy, {"--sniffer", toy.plugin}).out;
  for (const char* spoiler :
       {"-DSPOIL=answer->cfa=frame->callee_cfa-64", "-DSPOIL=jitprof_set_register(answer,JITPROF_RSP,0)",
        "-DSPOIL=answer->known_registers=0", "-DSPOIL=answer->stop=3"}) {
    INFO(spoiler);
    std::string garbage = toy.folder.file("garbage.so");
    toy.build("garbage_sniffer.c", garbage, {spoiler});
    ProgramResult result = report(toy, {"--sniffer", toy.plugin, "--sniffer", garbage});
    CHECK(result.status == 0);
    CHECK(result.out == report_with);
    CHECK(result.err.find("answers of sniffer 'garbage'") != std::string::npos);
  }
}

TEST_CASE("a plug-in that cannot be used is refused with a message, and the report goes on without it") {
  RecordedToy toy;
  std::string report_with = report(toy, {"--sniffer", toy.plugin}).out;
  std::string twice = toy.folder.file("twice.so");
  toy.build("toy_vm_sniffer.c", twice);
  std::string later = toy.folder.file("later.so");
  toy.build("garbage_sniffer.c", later, {"-DVERSION=2"});
  for (const auto& [library, reason] : {std::pair(later, "version 2 "), std::pair(twice, "already a sniffer"),
                                        std::pair(toy.folder.file("none.so"), "No such file")}) {
    ProgramResult result = report(toy, {"--sniffer", toy.plugin, "--sniffer", library});
    INFO(result.err);
    CHECK(result.out == report_with);
    CHECK(result.err.find("'" + library + "'") != std::string::npos);
    CHECK(result.err.find(reason) != std::string::npos);
    // A file that the command line names and that is not what it should be.
    CHECK(result.status == 2);
  }
}

}  // namespace jitprof::tests
