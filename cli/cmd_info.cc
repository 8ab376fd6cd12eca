// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdio>
#include <map>
#include <utility>

#include "base/one_line.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/pipeline.h"
#include "cli/reading_options.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

// Counts what a recording holds while it is played.
struct Inventory {
  Playback& playback;
  std::map<std::string, uint64_t> records;
  std::map<uint32_t, uint64_t> samples_by_event;
  std::map<ThreadId, uint64_t> samples_by_thread;
  std::map<std::pair<std::string, uint32_t>, uint64_t> side_file_bytes;  // by path and pid
  uint64_t jit_object_bytes = 0;
  uint64_t lost = 0;
  uint64_t stack_bytes = 0;
  uint64_t first_ns = 0;
  uint64_t last_ns = 0;

  void operator()(const Sample& sample) {
    ++records["samples"];
    ++samples_by_event[sample.event];
    ++samples_by_thread[playback.processes.thread(sample.pid, sample.tid)];
    for (uint32_t i = 0; i < sample.stack_count; ++i) stack_bytes += sample.stack[i].bytes.size();
    if (first_ns == 0) first_ns = sample.time_ns;
    last_ns = sample.time_ns;
  }
  void operator()(const MapEvent&) { ++records["mappings"]; }
  void operator()(const CommEvent&) { ++records["thread names"]; }
  void operator()(const ForkEvent&) { ++records["forks"]; }
  void operator()(const ExitEvent&) { ++records["exits"]; }
  void operator()(const ModuleEvent&) { ++records["modules"]; }
  void operator()(const LostEvent& event) { lost += event.count; }
  void operator()(const SideFileEvent& event) {
    switch (event.kind) {
      case SideFileKind::kGdbJitGone:
        ++records["objects of the GDB JIT interface taken back"];
        return;
      case SideFileKind::kGdbJitObject:
        // A runtime may have thousands.
        if (event.offset == 0) ++records["objects of the GDB JIT interface"];
        jit_object_bytes += event.bytes.size();
        return;
      default:
        side_file_bytes[{event.path, event.pid}] += event.bytes.size();
    }
  }
};

void print_header(const std::string& file, const RecordingHeader& header) {
  bool is_own = header.format == RecordingHeader::Format::kJitprof;
  std::printf("file: %s\n", file.c_str());
  std::printf("format: %s, version %u\n", is_own ? "jitprof recording" : "perf.data", header.version);
  std::printf("host: %s, %s, %s, %u cpus\n", on_one_line(header.host).c_str(),
              on_one_line(header.kernel_release).c_str(), on_one_line(header.architecture).c_str(),
              header.cpu_count);
  std::printf("command:");
  for (const std::string& word : header.command_line) std::printf(" %s", on_one_line(word).c_str());
  std::printf("\nclock: %s\n", header.clock_is_monotonic ? "CLOCK_MONOTONIC" : "not CLOCK_MONOTONIC");
  std::printf("call graph: %s", header.call_graph.c_str());
  if (header.stack_size > 0) std::printf(", %" PRIu64 " stack bytes asked", header.stack_size);
  std::printf("\n");
}

void print_inventory(const RecordingHeader& header, const Playback& playback, const Inventory& inventory) {
  std::printf("seconds: %.3f\n", static_cast<double>(inventory.last_ns - inventory.first_ns) / 1e9);
  for (size_t i = 0; i < header.events.size(); ++i) {
    const SampledEvent& event = header.events[i];
    auto found = inventory.samples_by_event.find(static_cast<uint32_t>(i));
    std::printf("event: %s, ", on_one_line(event.name).c_str());
    if (event.frequency > 0) {
      std::printf("%" PRIu64 " Hz", event.frequency);
    } else {
      std::printf("period %" PRIu64, event.period);
    }
    std::printf("%s, %" PRIu64 " samples\n", event.user_only ? ", user only" : "",
                found == inventory.samples_by_event.end() ? 0 : found->second);
  }
  for (const auto& [name, count] : inventory.records) std::printf("%s: %" PRIu64 "\n", name.c_str(), count);
  std::printf("lost: %" PRIu64 "\n", inventory.lost);
  std::printf("stack bytes: %" PRIu64 "\n", inventory.stack_bytes);
  for (const auto& [file, bytes] : inventory.side_file_bytes) {
    std::printf("side file: %s, %" PRIu64 " bytes\n", on_one_line(file.first).c_str(), bytes);
  }
  if (inventory.jit_object_bytes > 0) {
    std::printf("bytes in objects of the GDB JIT interface: %" PRIu64 "\n", inventory.jit_object_bytes);
  }
  for (const auto& [id, samples] : inventory.samples_by_thread) {
    const Thread& thread = playback.processes.threads()[id.index];
    std::printf("thread: %u/%u %s, %" PRIu64 " samples\n", thread.pid, thread.tid,
                on_one_line(thread.comm).c_str(), samples);
  }
  for (const Module& module : playback.modules.modules()) {
    std::printf("module: %s %s\n", on_one_line(module.path).c_str(), module.build_id.hex().c_str());
  }
}

Status print_contents(const ReadingOptions&, const std::string& file, Recording& recording,
                      Playback& playback) {
  Inventory inventory{playback};
  Status played = play(recording, playback, [&](const Event& event) { std::visit(inventory, event); });
  print_header(file, recording.header());
  print_inventory(recording.header(), playback, inventory);
  for (const auto& [name, count] : recording.shortfalls()) {
    std::printf("shortfall: %s: %" PRIu64 "\n", name.c_str(), count);
  }
  return played;
}

int print_sniffers(const ParsedOptions& parsed) {
  ReadingOptions options;
  Status read = read_sniffers(parsed, options);
  if (!read.ok()) return fail(read.error().message);
  std::printf("%-14s %-24s %-24s %s\n", "locus", "name", "object", "enabled");
  for (SnifferId id : options.sniffers.order()) {
    const Sniffers::Entry& entry = options.sniffers.entry(id);
    std::string object = entry.object.empty() ? "any" : on_one_line(entry.object);
    std::printf("%-14s %-24s %-24s %s\n", name_of(entry.locus), on_one_line(entry.name).c_str(),
                object.c_str(), entry.is_enabled ? "yes" : "no");
  }
  return options.has_refused_plugins ? kFailed : kOk;
}

int print_info(const ParsedOptions& parsed) {
  if (!parsed.has("sniffers")) return for_each_recording(parsed, print_contents);
  if (parsed.has("file")) return fail("info --sniffers is about this command line: leave out FILE");
  return print_sniffers(parsed);
}

}  // namespace

int run_info(const Arguments& arguments) {
  po::options_description description("jitprof info [OPTIONS] [FILE…]\n\nOptions");
  add_reading_options(description);
  add_sniffer_options(description);
  description.add_options()("sniffers", "list who unwinds instead, in the order in which they are asked");
  return run_with_options(arguments, description, "file", print_info);
}

}  // namespace jitprof
