// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>
#include <string>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/options.h"

namespace {

struct Command {
  const char* name;
  int (*run)(const jitprof::Arguments&);
  const char* purpose;
};

constexpr Command kCommands[] = {
    {"record", jitprof::run_record, "sample a command, processes or the whole machine into a recording"},
    {"report", jitprof::run_report, "show where the time went: text, tree, folded, pprof, flame graph"},
    {"script", jitprof::run_script, "print a recording sample by sample"},
    {"info", jitprof::run_info, "print what a recording holds"},
    {"doctor", jitprof::run_doctor, "say what this machine allows, and the fix for what it does not"},
};

// A full disk or a closed pipe must not look like success.
int finish(int status) {
  bool is_written = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written || status != jitprof::kOk) return status;
  jitprof::print_error("cannot write to standard output");
  return jitprof::kFailed;
}

void print_usage(std::FILE* stream) {
  std::fprintf(stream, "usage: jitprof COMMAND [OPTIONS]\n\n");
  for (const Command& command : kCommands) std::fprintf(stream, "  %-8s %s\n", command.name, command.purpose);
  std::fprintf(stream, "\n'jitprof COMMAND --help' lists a command's options.\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(stdout);
    return finish(jitprof::kOk);
  }
  if (name == "--version") {
    std::printf("jitprof %s\n", JP_VERSION);
    return finish(jitprof::kOk);
  }
  for (const Command& command : kCommands) {
    if (name == command.name) return finish(command.run({argv + 2, argv + argc}));
  }
  if (name.empty()) {
    print_usage(stderr);
  } else {
    std::fprintf(stderr, "jitprof: there is no command '%s'; 'jitprof --help' lists them\n", name.c_str());
  }
  return jitprof::kFailed;
}
