// SPDX-License-Identifier: Apache-2.0
#include "cli/reading_options.h"

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/exit_status.h"
#include "unwind/sniff/plugin.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

Status check_directory(const std::string& option, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Nothing{};
  return Error{option + " '" + path + "': there is no such directory"};
}

constexpr unsigned kMostJobs = 256;

// The CPUs this process may run on: fewer than the machine has under taskset and in containers.
unsigned usable_cpus() {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  if (count == 0) count = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(static_cast<unsigned>(count), 1u, kMostJobs);
}

Result<NameDetail> read_names(const ParsedOptions& parsed) {
  std::string names = parsed.find<std::string>("names").value_or("full");
  if (names == "full") return NameDetail::kFull;
  if (names == "module") return NameDetail::kModule;
  return Error{"--names '" + names + "': it is full or module"};
}

}  // namespace

void add_reading_options(po::options_description& description) {
  auto add = description.add_options();
  add("help,h", "this text");
  add("file", po::value<std::vector<std::string>>()->value_name("FILE"),
      "recordings or perf.data files, '-' for standard input (jitprof.data)");
  add("symfs", po::value<std::string>()->value_name("DIR"), "find modules below DIR, by name and build-id");
  add("debug-dir", po::value<std::vector<std::string>>()->value_name("DIR"),
      "look for debug files here too, repeatable (/usr/lib/debug)");
  add("jobs", po::value<unsigned>()->value_name("N"), "threads, 1 to 256 (the CPUs there are)");
}

void add_sniffer_options(po::options_description& description) {
  auto add = description.add_options();
  add("sniffer", po::value<std::vector<std::string>>()->value_name("FILE.so"),
      "a plug-in that unwinds code of its own, repeatable");
  add("disable-sniffer", po::value<std::vector<std::string>>()->value_name("NAME"),
      "do not ask this one, repeatable; 'jitprof info --sniffers' lists them");
}

void add_frame_options(po::options_description& description) {
  auto add = description.add_options();
  add("max-depth", po::value<uint32_t>()->value_name("N"),
      "of deeper stacks, keep N frames at both ends together (100000)");
  add("names", po::value<std::string>()->value_name("full|module"),
      "name functions, or show module+0xoff and open no symbol table (full)");
}

Status read_sniffers(const ParsedOptions& parsed, ReadingOptions& options) {
  for (const std::string& path : parsed.list("sniffer")) {
    Status loaded = load_plugin(path, options.sniffers);
    if (loaded.ok()) continue;
    print_error(loaded.error().message);
    options.has_refused_plugins = true;
  }
  for (const std::string& name : parsed.list("disable-sniffer"))
    JP_TRY(options.sniffers.set_enabled(name, false));
  return Nothing{};
}

DebugSearch debug_search(const ParsedOptions& parsed) {
  DebugSearch search;
  std::vector<std::string> directories = parsed.list("debug-dir");
  search.directories.insert(search.directories.begin(), directories.begin(), directories.end());
  return search;
}

Result<ReadingOptions> reading_options(const ParsedOptions& parsed) {
  ReadingOptions options;
  options.files = parsed.list("file");
  if (options.files.empty()) options.files = {"jitprof.data"};
  options.symfs = parsed.find<std::string>("symfs").value_or("");
  if (!options.symfs.empty()) JP_TRY(check_directory("--symfs", options.symfs));
  for (const std::string& directory : parsed.list("debug-dir"))
    JP_TRY(check_directory("--debug-dir", directory));
  options.debug_search = debug_search(parsed);
  JP_TRY(read_sniffers(parsed, options));
  options.names = JP_TRY(read_names(parsed));
  options.max_depth = parsed.find<uint32_t>("max-depth").value_or(kDefaultMaxDepth);
  if (options.max_depth < 2)
    return Error{"--max-depth " + std::to_string(options.max_depth) +
                 ": it must be at least 2, a frame for each end"};
  options.jobs = parsed.find<unsigned>("jobs").value_or(usable_cpus());
  if (options.jobs < 1 || options.jobs > kMostJobs)
    return Error{"--jobs " + std::to_string(options.jobs) + ": it must be 1 to 256"};
  return options;
}

int for_each_recording(const ParsedOptions& parsed,
                       const std::function<Status(const ReadingOptions& options, const std::string& file,
                                                  Recording& recording, Playback& playback)>& read) {
  auto options = reading_options(parsed);
  if (!options.ok()) return fail(options.error().message);
  WorkerPool pool(options.value().jobs);
  for (const std::string& file : options.value().files) {
    auto recording = Recording::open(file, &pool);
    if (!recording.ok()) return fail(recording.error().message);
    Playback playback(options.value(), recording.value().header());
    Status status = read(options.value(), file, recording.value(), playback);
    if (!status.ok()) return fail(status.error().message);
  }
  return options.value().has_refused_plugins ? kFailed : kOk;
}

}  // namespace jitprof
