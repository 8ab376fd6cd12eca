// SPDX-License-Identifier: Apache-2.0
#include "cli/sample_printer.h"

#include <cinttypes>
#include <cstdio>

#include "base/one_line.h"
#include "symbolize/frame_class.h"
#include "symbolize/jit_name.h"
#include "unwind/cfi/rule_text.h"

namespace jitprof {
namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

void print_stacks(const Sample& sample) {
  for (uint32_t i = 0; i < sample.stack_count; ++i) {
    const StackSegment& segment = sample.stack[i];
    std::printf("        stack 0x%" PRIx64 "..0x%" PRIx64 ", %zu of %" PRIu64 " bytes\n", segment.start.value,
                segment.start.value + segment.bytes.size(), segment.bytes.size(), segment.asked);
  }
}

}  // namespace

SamplePrinter::SamplePrinter(const ReadingOptions& options, const RecordingHeader& header, Playback& playback,
                             bool verbose)
    : options_(options),
      header_(header),
      playback_(playback),
      verbose_(verbose),
      places_({playback.modules, tables_, options.sniffers}),
      symbolizer_(playback.modules, options.debug_search, names_, options.names) {}

void SamplePrinter::visit(const Event& event) {
  if (const auto* sample = std::get_if<Sample>(&event)) print(*sample);
  if (const auto* lost = std::get_if<LostEvent>(&event))
    std::printf("[lost] %" PRIu64 " records\n\n", lost->count);
}

void SamplePrinter::print(const Sample& sample) {
  if (playback_.kallsyms.size() != kallsyms_size_) {
    kallsyms_size_ = playback_.kallsyms.size();
    symbolizer_.set_kernel_symbols(std::as_bytes(std::span(playback_.kallsyms)));
  }
  print_head(sample);
  if (verbose_) print_stacks(sample);
  // As text, because what a frame refers to is gone when the walk goes on, and only its end tells how many
  // frames there are.
  frames_.clear();
  StopReason stop = walk_with_kernel(
      sample, playback_.processes, playback_.processes.process(sample.pid), places_,
      [this](Frame frame, const WalkedFrame& walked) { frames_.push_back(describe(frame, walked)); },
      verbose_ ? Follow::kAllRegisters : Follow::kWhatIsNeeded);
  UnwoundStack::Elided elided = elided_of(frames_.size(), options_.max_depth);
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (elided.count > 0 && i == elided.at) {
      std::printf("        [elided %" PRIu64 " frames]\n", elided.count);
      i += elided.count;
    }
    std::fputs(frames_[i].c_str(), stdout);
  }
  std::printf("        %s\n\n", stop == StopReason::kReachedRoot ? "[root]" : bracket_of(stop));
}

void SamplePrinter::print_head(const Sample& sample) {
  ThreadId thread = playback_.processes.thread(sample.pid, sample.tid);
  std::string comm = on_one_line(playback_.processes.threads()[thread.index].comm);
  const char* event = sample.event < header_.events.size() ? header_.events[sample.event].name.c_str() : "?";
  std::printf("%s %u/%u [%03u] %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s:\n",
              comm.empty() ? "?" : comm.c_str(), sample.pid, sample.tid, sample.cpu,
              sample.time_ns / 1'000'000'000, sample.time_ns % 1'000'000'000, sample.period, event);
}

std::string SamplePrinter::describe(const Frame& frame, const WalkedFrame& walked) {
  std::string text = describe_lines(frame);
  if (verbose_ && !frame.in_kernel) text += describe_walk(frame, walked);
  return text;
}

std::string SamplePrinter::describe_lines(const Frame& frame) {
  const SymbolizedFrame& named = symbolized(frame);
  std::string text;
  for (size_t i = 0; i < named.lines.size(); ++i) {
    const SourceFrame& line = named.lines[i];
    bool is_physical = i + 1 == named.lines.size();
    char position[32];
    std::snprintf(position, sizeof position, "        %16" PRIx64 " ", frame.position.value);
    text += position + on_one_line(names_.name(line.function));
    if (is_physical && named.offset > 0) text += "+" + hex(named.offset);
    if (line.line > 0) text += " " + on_one_line(names_.text(line.file)) + ":" + std::to_string(line.line);
    text += is_physical ? " (" + place_of(frame) + ")\n" : " (inlined)\n";
  }
  return text;
}

std::string SamplePrinter::describe_walk(const Frame& frame, const WalkedFrame& walked) const {
  std::string text = "          pc=" + hex(walked.pc.value);
  if (!frame.module.is_none()) text += " " + module_name(frame) + "+" + hex(frame.position.value);
  switch (frame.origin) {
    case FrameOrigin::kTop:
      text += " by=top";
      break;
    case FrameOrigin::kRecordedChain:
      text += " by=recorded-chain";
      break;
    case FrameOrigin::kSniffed:
      text += " by=" + on_one_line(options_.sniffers.entry({frame.sniffer}).name);
  }
  if (frame.follows_no_call) text += " follows-no-call";
  if (walked.cfa != RuntimeAddr{0}) text += " cfa=" + hex(walked.cfa.value);
  if (walked.rule != nullptr) text += " rule: " + to_text(*walked.rule);
  text += '\n';
  if (walked.registers == nullptr) return text;
  text += "          ";
  for (unsigned i = 0; i < kRegisterCount; ++i) {
    auto number = static_cast<Register>(i);
    if (auto value = walked.registers->find(number))
      text += std::string(" ") + name_of(number) + "=" + hex(*value);
  }
  return text + '\n';
}

// The module, or what kind of code made at run time it is.
std::string SamplePrinter::place_of(const Frame& frame) const {
  const Module* module = frame.module.is_none() ? nullptr : &playback_.modules.module(frame.module);
  if (module == nullptr || module->jit == nullptr) return module_name(frame);
  if (class_of(*module) == FrameClass::kRuntime) return "[jit, runtime]";
  std::string tier = read_jit_name(module->jit->name).tier;
  return tier.empty() ? "[jit]" : "[jit, " + tier + "]";
}

std::string SamplePrinter::module_name(const Frame& frame) const {
  return frame.module.is_none() ? "[unmapped]" : on_one_line(playback_.modules.module(frame.module).name());
}

const SymbolizedFrame& SamplePrinter::symbolized(const Frame& frame) {
  auto [place, is_new] = symbolized_.try_emplace(frame);
  if (is_new) place->second = symbolizer_.symbolize(frame);
  return place->second;
}

}  // namespace jitprof
