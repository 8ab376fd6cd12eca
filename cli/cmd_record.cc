// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <iostream>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/options.h"
#include "profiler/record.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

po::options_description describe() {
  po::options_description options(
      "jitprof record [OPTIONS] [--] COMMAND [ARGS]\njitprof record [OPTIONS] -p PID | -a\n\nOptions");
  auto add = options.add_options();
  add("help,h", "this text");
  add("output,o", po::value<std::string>()->value_name("FILE"),
      "recording to write; '-' is standard output (jitprof.data)");
  add("frequency,F", po::value<uint64_t>()->value_name("HZ"), "samples per second of CPU time (999)");
  add("event,e", po::value<std::vector<std::string>>()->value_name("EVENT"),
      "what to sample, repeatable: cycles, cpu-clock, … (cycles, else cpu-clock)");
  add("call-graph", po::value<std::string>()->value_name("stack|fp"),
      "copy the stack, or follow frame pointers (stack)");
  add("stack-size", po::value<uint64_t>()->value_name("BYTES"),
      "most stack bytes per sample, up to 65528 (32768)");
  add("duration,d", po::value<double>()->value_name("SECONDS"), "stop after this time");
  add("delay", po::value<double>()->value_name("SECONDS"), "start to sample after this time");
  add("jit", po::value<std::string>()->value_name("auto|off"),
      "ask a runtime that is started (node, python) for the names of what it compiles (auto)");
  add("no-inherit", "leave out threads and children that begin later");
  add("pid,p", po::value<std::vector<std::string>>()->value_name("PID[,PID]"), "processes to attach to");
  add("all,a", "the whole machine");
  return options;
}

Result<std::vector<uint32_t>> parse_pids(const std::vector<std::string>& lists) {
  std::vector<uint32_t> pids;
  for (const std::string& list : lists) {
    const char* place = list.data();
    const char* end = place + list.size();
    do {
      uint32_t pid = 0;
      auto [stop, problem] = std::from_chars(place, end, pid);
      if (problem != std::errc() || pid == 0 || (stop != end && *stop != ',')) {
        return Error{"'" + list + "' is not a list of process ids like 123 or 123,456"};
      }
      pids.push_back(pid);
      place = stop + (stop != end);
    } while (place < end);
  }
  return pids;
}

Result<RecordOptions> read_options(const ParsedOptions& parsed, const Arguments& program) {
  RecordOptions options;
  options.command = program;
  options.pids = JP_TRY(parse_pids(parsed.list("pid")));
  options.system_wide = parsed.has("all");
  int targets = !options.command.empty() + !options.pids.empty() + options.system_wide;
  if (targets != 1) {
    return Error{targets == 0 ? "nothing to record: name a command, -p PID or -a"
                              : "a command, -p PID and -a exclude each other"};
  }
  options.output = parsed.find<std::string>("output").value_or(options.output);
  options.frequency = parsed.find<uint64_t>("frequency").value_or(options.frequency);
  options.events = parsed.list("event");
  options.inherit = !parsed.has("no-inherit");
  options.duration_s = parsed.find<double>("duration");
  options.delay_s = parsed.find<double>("delay").value_or(0);
  if (options.frequency == 0) return Error{"-F 0: the frequency must be at least 1"};
  // Written so that NaN is refused too.
  if (options.duration_s && !(*options.duration_s > 0))
    return Error{"-d: the duration must be above 0 seconds"};
  if (!(options.delay_s >= 0)) return Error{"--delay: the delay must not be below 0 seconds"};

  std::string jit = parsed.find<std::string>("jit").value_or("auto");
  if (jit != "auto" && jit != "off") return Error{"--jit " + jit + ": it is 'auto' or 'off'"};
  options.sets_up_jit = jit == "auto";

  std::string call_graph = parsed.find<std::string>("call-graph").value_or("stack");
  if (call_graph != "stack" && call_graph != "fp") {
    return Error{"--call-graph " + call_graph + ": it is 'stack' or 'fp'"};
  }
  if (call_graph == "fp") options.call_graph = RecordOptions::CallGraph::kFramePointer;
  if (auto size = parsed.find<uint64_t>("stack-size")) {
    if (call_graph == "fp") return Error{"--stack-size goes with --call-graph stack"};
    if (*size < 8 || *size > 65528)
      return Error{"--stack-size " + std::to_string(*size) + ": 8 to 65528 bytes"};
    options.stack_size = static_cast<uint32_t>((*size + 7) / 8 * 8);
  }
  return options;
}

void print_summary(const RecordOptions& options, const RecordSummary& summary) {
  bool is_small = summary.file_bytes < 1'000'000;
  double size = static_cast<double>(summary.file_bytes) / (is_small ? 1e3 : 1e6);
  std::fprintf(stderr, "jitprof: %llu samples, %llu lost, %.1f s, '%s', %.1f %s\n",
               static_cast<unsigned long long>(summary.samples),
               static_cast<unsigned long long>(summary.lost), summary.seconds, options.output.c_str(), size,
               is_small ? "kB" : "MB");
}

}  // namespace

int run_record(const Arguments& arguments) {
  po::options_description description = describe();
  SplitArguments split = split_program(arguments, description);
  auto parsed = parse_options(split.own, description, "help");
  if (!parsed.ok()) {
    print_error(parsed.error().message);
    return kRecordFailed;
  }
  if (parsed.value().help) {
    std::cout << description;
    return kOk;
  }
  auto options = read_options(parsed.value(), split.program);
  if (!options.ok()) {
    print_error(options.error().message);
    return kRecordFailed;
  }
  options.value().on_note = print_error;
  auto outcome = record(options.value());
  if (auto* failure = std::get_if<RecordFailure>(&outcome)) {
    print_error(failure->message);
    return failure->exit_status;
  }
  const auto& summary = std::get<RecordSummary>(outcome);
  print_summary(options.value(), summary);
  return summary.command_status;
}

}  // namespace jitprof
