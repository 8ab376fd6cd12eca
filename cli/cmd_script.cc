// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdio>
#include <map>

#include "base/one_line.h"
#include "cli/commands.h"
#include "cli/pipeline.h"
#include "cli/reading_options.h"
#include "unwind/cfi/rule_text.h"
#include "unwind/walk.h"

namespace jitprof {
namespace po = boost::program_options;
namespace {

po::options_description describe() {
  po::options_description options("jitprof script [OPTIONS] [FILE]\n\nOptions");
  add_reading_options(options);
  options.add_options()("verbose", "per frame: pc, CFA, registers, rule, module+offset");
  return options;
}

// Prints one block per sample, in the order of time: a line with thread, cpu, time, period and event, then
// the frames, leaf first, inlined ones above the physical frame they run in.
class SamplePrinter {
 public:
  SamplePrinter(const RecordingHeader& header, Playback& playback, Names& names, Symbolizer& symbolizer,
                bool verbose)
      : header_(header), playback_(playback), names_(names), symbolizer_(symbolizer), verbose_(verbose) {}

  void visit(const Event& event) {
    if (const auto* sample = std::get_if<Sample>(&event)) print(*sample);
    if (const auto* lost = std::get_if<LostEvent>(&event))
      std::printf("[lost] %" PRIu64 " records\n\n", lost->count);
  }

 private:
  void print(const Sample& sample) {
    ThreadId thread = playback_.processes.thread(sample.pid, sample.tid);
    std::string comm = on_one_line(playback_.processes.threads()[thread.index].comm);
    const char* event =
        sample.event < header_.events.size() ? header_.events[sample.event].name.c_str() : "?";
    std::printf("%s %u/%u [%03u] %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s:\n",
                comm.empty() ? "?" : comm.c_str(), sample.pid, sample.tid, sample.cpu,
                sample.time_ns / 1'000'000'000, sample.time_ns % 1'000'000'000, sample.period, event);
    if (playback_.kallsyms.size() != kallsyms_size_) {
      kallsyms_size_ = playback_.kallsyms.size();
      symbolizer_.set_kernel_symbols(std::as_bytes(std::span(playback_.kallsyms)));
    }
    Process& process = playback_.processes.process(sample.pid);
    UnwoundStack stack;
    unwind(sample, playback_.processes, process, rules_, stack);
    if (verbose_) print_stacks(sample);
    size_t user = 0;
    while (user < stack.frames.size() && stack.frames[user].in_kernel) print_frame(stack.frames[user++]);
    if (verbose_) {
      walk(sample, process, playback_.modules, rules_, [&](const WalkedFrame& frame) {
        print_frame(frame.frame);
        print_detail(frame);
      });
    } else {
      while (user < stack.frames.size()) print_frame(stack.frames[user++]);
    }
    std::printf("        %s\n\n", stack.stop == StopReason::kReachedRoot ? "[root]" : bracket_of(stack.stop));
  }

  void print_stacks(const Sample& sample) {
    for (uint32_t i = 0; i < sample.stack_count; ++i) {
      const StackSegment& segment = sample.stack[i];
      std::printf("        stack 0x%" PRIx64 "..0x%" PRIx64 ", %zu of %" PRIu64 " bytes\n",
                  segment.start.value, segment.start.value + segment.bytes.size(), segment.bytes.size(),
                  segment.asked);
    }
  }

  void print_frame(const Frame& frame) {
    const SymbolizedFrame& named = symbolized(frame);
    std::string module =
        frame.module.is_none() ? "[unmapped]" : on_one_line(playback_.modules.module(frame.module).name());
    for (size_t i = 0; i < named.lines.size(); ++i) {
      const SourceFrame& line = named.lines[i];
      bool is_physical = i + 1 == named.lines.size();
      std::printf("        %16" PRIx64 " %s", frame.position.value,
                  on_one_line(names_.name(line.function)).c_str());
      if (is_physical && named.offset > 0) std::printf("+0x%" PRIx64, named.offset);
      if (line.line > 0) std::printf(" %s:%u", on_one_line(names_.text(line.file)).c_str(), line.line);
      std::printf(is_physical ? " (%s)\n" : " (inlined)\n", module.c_str());
    }
  }

  void print_detail(const WalkedFrame& walked) {
    std::printf("          pc=0x%" PRIx64 " by=%s", walked.pc.value, name_of(walked.frame.origin));
    if (walked.rule != nullptr)
      std::printf(" cfa=0x%" PRIx64 " rule: %s", walked.cfa.value, to_text(*walked.rule).c_str());
    std::printf("\n          ");
    for (unsigned i = 0; i < kRegisterCount; ++i) {
      auto number = static_cast<Register>(i);
      if (auto value = walked.registers.find(number)) std::printf(" %s=0x%" PRIx64, name_of(number), *value);
    }
    std::printf("\n");
  }

  const SymbolizedFrame& symbolized(const Frame& frame) {
    auto [place, is_new] = symbolized_.try_emplace(frame);
    if (is_new) place->second = symbolizer_.symbolize(frame);
    return place->second;
  }

  const RecordingHeader& header_;
  Playback& playback_;
  Names& names_;
  Symbolizer& symbolizer_;
  bool verbose_;
  size_t kallsyms_size_ = 0;  // of what the symbolizer knows
  RuleCache rules_;
  std::map<Frame, SymbolizedFrame> symbolized_;
};

int print_samples(const ParsedOptions& parsed) {
  auto print = [&](const ReadingOptions& options, const std::string&, Recording& recording,
                   Playback& playback) {
    Names names;
    Symbolizer symbolizer(playback.modules, options.debug_search, names);
    SamplePrinter printer(recording.header(), playback, names, symbolizer, parsed.has("verbose"));
    return play(recording, playback, [&](const Event& event) { printer.visit(event); });
  };
  return for_each_recording(parsed, print);
}

}  // namespace

int run_script(const Arguments& arguments) {
  return run_with_options(arguments, describe(), "file", print_samples);
}

}  // namespace jitprof
