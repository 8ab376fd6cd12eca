// SPDX-License-Identifier: Apache-2.0
#include "cli/reading_options.h"

#include <filesystem>

#include "cli/exit_status.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

Status check_directory(const std::string& option, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Nothing{};
  return Error{option + " '" + path + "': there is no such directory"};
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
  return options;
}

int for_each_recording(const ParsedOptions& parsed,
                       const std::function<Status(const ReadingOptions& options, const std::string& file,
                                                  Recording& recording, Playback& playback)>& read) {
  auto options = reading_options(parsed);
  if (!options.ok()) return fail(options.error().message);
  for (const std::string& file : options.value().files) {
    auto recording = Recording::open(file);
    if (!recording.ok()) return fail(recording.error().message);
    Playback playback(options.value().symfs);
    Status status = read(options.value(), file, recording.value(), playback);
    if (!status.ok()) return fail(status.error().message);
  }
  return kOk;
}

}  // namespace jitprof
