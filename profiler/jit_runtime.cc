// SPDX-License-Identifier: Apache-2.0
#include "profiler/jit_runtime.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "profiler/program_output.h"

namespace jitprof {
namespace {

enum class Adds : uint8_t { kNothing, kPerfMap, kJitdump };

// An option that makes a runtime publish its code.
struct Setting {
  std::string_view listed_as;  // in the output of the probe, if the runtime has the option
  std::string_view variable;   // environment variable that takes it, other options of it separated by blanks
  std::string_view value;
  std::string_view option;  // by which a user may have given it himself
  Adds adds = Adds::kNothing;
};

struct Runtime {
  std::string_view name;
  std::vector<std::string_view> programs;  // names; one that ends in "*" begins so
  std::vector<std::string_view> probe;     // arguments that make it list its options
  std::vector<Setting> settings;
  std::string_view what;  // that is published
};

// A row a runtime. Node takes V8's options from NODE_OPTIONS as well, so that programs that are started
// through npm or by other programs get them too.
const std::vector<Runtime>& runtimes() {
  static const std::vector<Runtime> kRuntimes = {
      {"node",
       {"node", "nodejs"},
       {"--v8-options"},
       {{"--perf-prof (", "NODE_OPTIONS", "--perf-prof", "--perf-prof", Adds::kJitdump},
        // The map is written line by line: it has the last functions of a process that is killed.
        {"--perf-basic-prof (", "NODE_OPTIONS", "--perf-basic-prof", "--perf-basic-prof", Adds::kPerfMap},
        {"--interpreted-frames-native-stack (", "NODE_OPTIONS", "--interpreted-frames-native-stack",
         "--interpreted-frames-native-stack"}},
       "names of JavaScript functions"},
      {"python",
       {"python", "python3", "python3.*"},
       {"-c",
        "import sys, sysconfig\n"
        "has = sysconfig.get_config_var('PY_HAVE_PERF_TRAMPOLINE')\n"
        "print('perf_jit;' if has and sys.version_info >= (3, 13) else 'perf;' if has else '')"},
       {{"perf_jit;", "PYTHON_PERF_JIT_SUPPORT", "1", "perf_jit", Adds::kJitdump},
        {"perf;", "PYTHONPERFSUPPORT", "1", "perf", Adds::kPerfMap}},
       "names of Python functions"},
  };
  return kRuntimes;
}

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

const Runtime* runtime_named(const std::string& program) {
  std::string name = base_name(program);
  for (const Runtime& runtime : runtimes()) {
    for (std::string_view known : runtime.programs) {
      bool is_prefix = known.ends_with('*');
      if (is_prefix ? name.starts_with(known.substr(0, known.size() - 1)) : name == known) return &runtime;
    }
  }
  return nullptr;
}

// As execvp finds it; "" when it is nowhere.
std::string find_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string program = (folder.empty() ? "." : folder) + "/" + word;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

// The program behind "#!/usr/bin/node" or "#!/usr/bin/env node"; "" where there is none.
std::string interpreter_of(const std::string& script) {
  std::ifstream file(script, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  if (!line.starts_with("#!")) return "";
  std::istringstream words(line.substr(2, line.find('\n') - 2));
  std::string program, word;
  words >> program;
  if (base_name(program) != "env") return program;
  while (words >> word) {
    if (!word.starts_with('-') && word.find('=') == std::string::npos) return word;
  }
  return "";
}

struct FoundRuntime {
  const Runtime* runtime = nullptr;
  std::string program;
};

FoundRuntime find_runtime(std::string word) {
  // A script may name another script as its interpreter; Linux follows four.
  for (int depth = 0; depth < 4 && !word.empty(); ++depth) {
    std::string program = find_program(word);
    if (program.empty()) break;
    std::error_code ignored;
    std::string behind_links = std::filesystem::canonical(program, ignored).string();
    for (const std::string& name : {program, behind_links}) {
      if (const Runtime* runtime = runtime_named(name)) return {runtime, program};
    }
    word = interpreter_of(program);
  }
  return {};
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    size_t end = at + word.size();
    bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\0';
    if (begins && (end == text.size() || text[end] == ' ' || text[end] == '\0')) return true;
  }
  return false;
}

// Whether the user gave the option: on the command line, or in the environment.
bool is_given(const Setting& setting, const std::vector<std::string>& command) {
  const char* value = std::getenv(std::string(setting.variable).c_str());
  if (value != nullptr && has_word(value, setting.value)) return true;
  return std::find(command.begin(), command.end(), setting.option) != command.end();
}

void add_to_environment(const Setting& setting, std::vector<std::string>& environment) {
  std::string prefix = std::string(setting.variable) + "=";
  for (std::string& entry : environment) {
    if (!entry.starts_with(prefix)) continue;
    entry += " " + std::string(setting.value);
    return;
  }
  const char* value = std::getenv(std::string(setting.variable).c_str());
  std::string before = value != nullptr && *value != '\0' ? std::string(value) + " " : "";
  environment.push_back(prefix + before + std::string(setting.value));
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::optional<JitSetup> jit_setup_of(const std::vector<std::string>& command) {
  if (command.empty()) return std::nullopt;
  FoundRuntime found = find_runtime(command.front());
  if (found.runtime == nullptr) return std::nullopt;
  std::vector<std::string> probe = {found.program};
  for (std::string_view argument : found.runtime->probe) probe.emplace_back(argument);
  auto listed = output_of_program(probe);
  if (!listed) return std::nullopt;

  JitSetup setup;
  std::string lacking;
  for (const Setting& setting : found.runtime->settings) {
    if (listed->find(setting.listed_as) == std::string::npos || is_given(setting, command)) continue;
    // V8 writes its jitdump into the working directory and stops where it cannot.
    bool needs_folder = setting.adds == Adds::kJitdump && found.runtime->name == "node";
    if (needs_folder && access(".", W_OK) != 0) {
      lacking = "; the working directory cannot be written, so without " + std::string(setting.option);
      continue;
    }
    add_to_environment(setting, setup.environment);
    setup.adds_perf_maps |= setting.adds == Adds::kPerfMap;
    setup.adds_jitdumps |= setting.adds == Adds::kJitdump;
  }
  if (setup.environment.empty()) return setup;
  setup.note = "asked " + std::string(found.runtime->name) + " for " + std::string(found.runtime->what) + ":";
  for (const std::string& entry : setup.environment) setup.note += " " + entry;
  setup.note += lacking + " (--jit off leaves it alone)";
  return setup;
}

std::string describe_missing_jit_setup(uint32_t pid) {
  std::string folder = "/proc/" + std::to_string(pid);
  std::error_code problem;
  std::string program = std::filesystem::read_symlink(folder + "/exe", problem).string();
  const Runtime* runtime = problem ? nullptr : runtime_named(program);
  if (runtime == nullptr) return "";
  std::string command = contents_of(folder + "/cmdline"), environment = contents_of(folder + "/environ");
  std::string missing;
  for (const Setting& setting : runtime->settings) {
    std::string entry = std::string(setting.variable) + "=";
    size_t at = environment.find(entry);
    std::string value = at == std::string::npos ? "" : environment.substr(at + entry.size());
    if (has_word(command, setting.option) || has_word(value.substr(0, value.find('\0')), setting.value))
      return "";
    if (missing.empty()) missing = entry + std::string(setting.value);
  }
  return base_name(program) + " (pid " + std::to_string(pid) + ") was not asked for " +
         std::string(runtime->what) + ": start it with " + missing + ", or let 'jitprof record' start it";
}

}  // namespace jitprof
