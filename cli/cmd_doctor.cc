// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/reading_options.h"
#include "profiler/doctor.h"
#include "symbolize/debug_file.h"
#include "symbolize/symbolizer.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

void print(const Capability& capability) {
  std::printf("%-4s %s: %s\n", capability.is_ok ? "ok" : "no", capability.name.c_str(),
              capability.state.c_str());
  if (!capability.fix.empty()) std::printf("       fix: %s\n", capability.fix.c_str());
}

// Where the names and inlined functions of a binary would come from.
Capability debug_information_of(const std::string& path, const DebugSearch& search) {
  auto elf = ElfFile::open(path);
  if (!elf.ok()) return {path, elf.error().message, false, "name an ELF file"};
  Module module{
      .path = path, .build_id = elf.value().build_id(), .file_path = path, .elf = std::move(elf.value())};
  if (has_debug_sections(*module.elf)) return {path, "has debug information of its own", true, ""};
  DebugFileSearch found = find_debug_file(module, search.directories);
  if (found.file) return {path, "its separate debug file is installed", true, ""};
  std::string state = "no debug information, so no inlined functions and no lines";
  if (found.refused > 0) state += "; a debug file of another build was found and refused";
  std::string fix = "compile with -g";
  if (!module.build_id.empty()) {
    fix += ", or install the package with /usr/lib/debug/.build-id/" + module.build_id.hex().substr(0, 2) +
           "/" + module.build_id.hex().substr(2) +
           ".debug (Debian: NAME-dbg, NAME-dbgsym from the debug archive)";
  }
  return {path, state, false, fix};
}

int examine(const ParsedOptions& parsed) {
  for (const Capability& capability : examine_machine()) print(capability);
  DebugSearch search = debug_search(parsed);
  for (const std::string& path : parsed.list("binary")) print(debug_information_of(path, search));
  return kOk;
}

}  // namespace

int run_doctor(const Arguments& arguments) {
  po::options_description description("jitprof doctor [OPTIONS] [BINARY…]\n\nOptions");
  auto add = description.add_options();
  add("help,h", "this text");
  add("binary", po::value<std::vector<std::string>>()->value_name("BINARY"),
      "look for its debug information too");
  add("debug-dir", po::value<std::vector<std::string>>()->value_name("DIR"),
      "look for debug files here too, repeatable");
  return run_with_options(arguments, description, "binary", examine);
}

}  // namespace jitprof
