// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline.h"

#include <algorithm>
#include <unordered_map>

#include "output/profile_builder.h"
#include "symbolize/running_kernel.h"
#include "unwind/walk.h"

namespace jitprof {
namespace {

// Hands each event to the tables that keep track of it.
struct Apply {
  Playback& playback;
  bool is_perf_data = false;
  const std::string& kernel_release;
  void operator()(const Sample&) {}
  void operator()(const LostEvent&) {}
  void operator()(const MapEvent& event) {
    playback.processes.apply(event);
    // perf's record of the kernel's text: "[kernel.kallsyms]_text", the place of that symbol as offset.
    constexpr std::string_view kKernelText = "[kernel.kallsyms]";
    if (is_perf_data && event.in_kernel && event.path.starts_with(kKernelText) && playback.kallsyms.empty()) {
      playback.kallsyms = symbols_of_running_kernel(
          kernel_release, std::string_view(event.path).substr(kKernelText.size()), {event.offset.value});
    }
  }
  void operator()(const CommEvent& event) { playback.processes.apply(event); }
  void operator()(const ForkEvent& event) { playback.processes.apply(event); }
  void operator()(const ExitEvent& event) { playback.processes.apply(event); }
  void operator()(const ModuleEvent& event) { playback.modules.apply(event); }
  void operator()(const SideFileEvent& event) {
    playback.modules.apply(event);
    if (event.kind == SideFileKind::kKallsyms) {
      playback.kallsyms.append(reinterpret_cast<const char*>(event.bytes.data()), event.bytes.size());
    }
  }
};

std::vector<ValueType> value_types_of(const std::vector<SampledEvent>& events) {
  // A recorder killed before its first chunk leaves a file without events: nothing, but readable.
  if (events.empty()) return {{"samples", "count", 0, false}};
  std::vector<ValueType> types;
  for (size_t i = 0; i < events.size(); ++i) {
    const SampledEvent& event = events[i];
    bool alone = events.size() == 1;
    std::string unit = event.is_clock ? "nanoseconds" : "count";
    std::string samples = alone ? "samples" : event.name + ".samples";
    std::string value = alone && event.is_clock ? "cpu" : event.name;
    types.push_back({samples, "count", static_cast<uint16_t>(i), false});
    types.push_back({value, unit, static_cast<uint16_t>(i), true});
  }
  return types;
}

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

// The first run gives the profile its header; later ones must have sampled the same events.
Status take_header(const RecordingHeader& header, const std::string& file, bool is_first, Profile& profile) {
  std::vector<ValueType> types = value_types_of(header.events);
  if (is_first) {
    profile.value_types = types;
    profile.command = join(header.command_line);
    profile.start_wall_ns = header.start_wall_ns;
    const SampledEvent* event = header.events.empty() ? nullptr : &header.events.front();
    if (event != nullptr) {
      profile.sample_period = event->period;
      if (event->period == 0 && event->is_clock && event->frequency > 0) {
        profile.sample_period = 1'000'000'000 / event->frequency;
      }
    }
    return Nothing{};
  }
  bool same = std::ranges::equal(types, profile.value_types, {}, &ValueType::name, &ValueType::name);
  if (!same)
    return Error{"'" + file + "' sampled other events than the file before it: report them one by one"};
  return Nothing{};
}

// Feeds one run's samples to the builder.
class RunReader {
 public:
  RunReader(Playback& playback, ProfileBuilder& builder) : playback_(playback), builder_(builder) {}

  void visit(const Event& event) {
    if (const auto* sample = std::get_if<Sample>(&event)) add(*sample);
    if (const auto* lost = std::get_if<LostEvent>(&event)) builder_.profile().lost += lost->count;
  }
  uint64_t duration_ns() const { return last_ns_ - first_ns_; }

 private:
  void add(const Sample& sample) {
    ProcessTable& processes = playback_.processes;
    Process& process = processes.process(sample.pid);
    unwind(sample, processes, process, rules_, stack_);
    builder_.add({.time_ns = sample.time_ns,
                  .period = sample.period,
                  .thread = thread_of(sample, processes),
                  .cpu = sample.cpu,
                  .event = static_cast<uint16_t>(sample.event)},
                 stack_);
    if (first_ns_ == 0) first_ns_ = sample.time_ns;
    last_ns_ = std::max(last_ns_, sample.time_ns);
  }

  ProfileThreadId thread_of(const Sample& sample, ProcessTable& processes) {
    ThreadId id = processes.thread(sample.pid, sample.tid);
    auto [place, is_new] = threads_.try_emplace(id);
    if (is_new) {
      const Thread& thread = processes.threads()[id.index];
      uint64_t start_ns = processes.processes()[thread.process.index].start_ns;
      place->second = builder_.add_thread({thread.pid, thread.tid, start_ns, thread.comm});
    }
    return place->second;
  }

  Playback& playback_;
  ProfileBuilder& builder_;
  RuleCache rules_;
  UnwoundStack stack_;
  std::unordered_map<ThreadId, ProfileThreadId> threads_;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
};

void add_all(const std::map<std::string, uint64_t>& counts, std::map<std::string, uint64_t>& sum) {
  for (const auto& [name, count] : counts) sum[name] += count;
}

}  // namespace

Status play(Recording& recording, Playback& playback, const std::function<void(const Event&)>& visit) {
  const RecordingHeader& header = recording.header();
  Apply apply{playback, header.format == RecordingHeader::Format::kPerfData, header.kernel_release};
  for (;;) {
    const Event* event = JP_TRY(recording.next());
    if (event == nullptr) return Nothing{};
    std::visit(apply, *event);
    visit(*event);
  }
}

Result<LoadedProfile> load_profile(const ReadingOptions& options) {
  ProfileBuilder builder;
  std::optional<Error> damage;
  for (const std::string& file : options.files) {
    Recording recording = JP_TRY(Recording::open(file));
    JP_TRY(take_header(recording.header(), file, &file == &options.files.front(), builder.profile()));

    Playback playback(options.symfs);
    builder.begin_run(playback.modules);
    RunReader reader(playback, builder);
    Status played = play(recording, playback, [&](const Event& event) { reader.visit(event); });
    if (!played.ok() && !damage) damage = played.error();
    builder.profile().duration_ns += reader.duration_ns();

    // From here on no stack is added for this run: every distinct frame gets its names once.
    Symbolizer symbolizer(playback.modules, options.debug_search, builder.profile().names);
    symbolizer.set_kernel_symbols(std::as_bytes(std::span(playback.kallsyms)));
    builder.finish_run(symbolizer);
    add_all(recording.shortfalls(), builder.profile().shortfalls);
    add_all(symbolizer.shortfalls(), builder.profile().shortfalls);
  }
  return LoadedProfile{std::move(builder.profile()), std::move(damage)};
}

}  // namespace jitprof
