// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline.h"

#include <algorithm>
#include <unordered_map>

#include "cli/batch_unwinder.h"
#include "symbolize/running_kernel.h"

namespace jitprof {
namespace {

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

void add_all(const std::map<std::string, uint64_t>& counts, std::map<std::string, uint64_t>& sum) {
  for (const auto& [name, count] : counts) sum[name] += count;
}

uint64_t time_of(const Event& event) {
  auto time = [](const auto& some) -> uint64_t {
    if constexpr (requires { some.time_ns; }) return some.time_ns;
    return 0;
  };
  return std::visit(time, event);
}

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

// The first run gives the profile its header; later ones must have sampled the same events.
Status take_header(const RecordingHeader& header, const std::string& file, bool is_first, Profile& profile) {
  std::vector<ValueType> types = value_types_of(header.events);
  uint64_t& stack_size = profile.stack_size;
  if (header.stack_size > 0)
    stack_size = stack_size == 0 ? header.stack_size : std::min(stack_size, header.stack_size);
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
  RunReader(const ReadingOptions& options, Playback& playback, ProfileBuilder& builder, WorkerPool& pool)
      : sniffers_(options.sniffers),
        playback_(playback),
        builder_(builder),
        batch_({playback.modules, tables_, sniffers_}, playback.processes, options.max_depth, pool) {}

  Status read(Recording& recording) {
    Status status = read_events(recording);
    finish_batch();
    return status;
  }
  uint64_t duration_ns() const { return last_ns_ - first_ns_; }
  // What walks met that a user should know of, for the footer.
  void add_shortfalls(std::map<std::string, uint64_t>& shortfalls) const {
    for (const auto& [key, count] : batch_.refusals()) {
      const auto& [sniffer, refusal] = key;
      shortfalls["answers of sniffer '" + sniffers_.entry(sniffer).name + "' " + text_of(refusal) +
                 ", not taken"] += count;
    }
    for (const UnwindTables::Unreadable& damaged : tables_.unreadable()) {
      const std::string& path = playback_.modules.module(damaged.module).path;
      shortfalls["unreadable entries in the unwind information of '" + path + "'"] += damaged.entries;
    }
  }

 private:
  Status read_events(Recording& recording) {
    using Earlier = Recording::Earlier;
    for (;;) {
      const Event* event = JP_TRY(recording.next(batch_.is_empty() ? Earlier::kDrop : Earlier::kKeep));
      if (event == nullptr) return Nothing{};
      if (const auto* sample = std::get_if<Sample>(event)) {
        add(*sample, *event);
      } else if (const auto* lost = std::get_if<LostEvent>(event)) {
        builder_.profile().lost += lost->count;
      } else {
        finish_batch();
        playback_.apply(*event);
      }
    }
  }

  void add(const Sample& sample, const Event& event) {
    if (playback_.changes_before(sample.time_ns)) {
      finish_batch();
      playback_.apply(event);
    }
    ProcessTable& processes = playback_.processes;
    batch_.add(sample, processes.process(sample.pid),
               {.time_ns = sample.time_ns,
                .period = sample.period,
                .thread = thread_of(sample, processes),
                .cpu = sample.cpu,
                .event = static_cast<uint16_t>(sample.event)});
    if (first_ns_ == 0) first_ns_ = sample.time_ns;
    last_ns_ = std::max(last_ns_, sample.time_ns);
    if (batch_.is_full()) finish_batch();
  }

  void finish_batch() {
    batch_.unwind_all([this](const ProfileBuilder::Context& context, const UnwoundStack& stack) {
      builder_.add(context, stack);
    });
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

  const Sniffers& sniffers_;
  Playback& playback_;
  ProfileBuilder& builder_;
  UnwindTables tables_;
  BatchUnwinder batch_;
  std::unordered_map<ThreadId, ProfileThreadId> threads_;
  uint64_t first_ns_ = 0;
  uint64_t last_ns_ = 0;
};

std::vector<std::string> names_of(const Sniffers& sniffers) {
  std::vector<std::string> names(sniffers.order().size());
  for (SnifferId id : sniffers.order()) names[id.index] = sniffers.entry(id).name;
  return names;
}

}  // namespace

Playback::Playback(const ReadingOptions& options, const RecordingHeader& header)
    : modules(options.symfs),
      processes(modules),
      header_(header),
      wants_kernel_symbols_(options.names == NameDetail::kFull),
      collector_(header.clock_is_monotonic),
      files_beside_(options.symfs) {}

void Playback::apply(const Event& event) {
  if (const auto* piece = std::get_if<SideFileEvent>(&event)) {
    if (piece->kind == SideFileKind::kKallsyms && wants_kernel_symbols_)
      kallsyms.append(reinterpret_cast<const char*>(piece->bytes.data()), piece->bytes.size());
    if (!has_all_jit_code_) collector_.add(*piece);
  } else {
    advance_to(time_of(event));
  }
  processes.apply_event(event);
  const auto* map = std::get_if<MapEvent>(&event);
  if (map == nullptr || header_.format != RecordingHeader::Format::kPerfData) return;
  apply_kernel_text(*map);
  JitCollector beside(header_.clock_is_monotonic);
  if (files_beside_.add_files_of(*map, beside)) take(beside);
}

void Playback::take(JitCollector& collector) {
  JitLog log = collector.finish();
  add_all(log.shortfalls, shortfalls_);
  timeline_.add(std::move(log));
}

void Playback::advance_to(uint64_t time_ns) {
  // Module records come before them too, and have no time.
  if (time_ns == 0) return;
  if (!has_all_jit_code_) take(collector_);
  has_all_jit_code_ = true;
  if (timeline_.is_due(time_ns)) timeline_.apply_due(time_ns, processes);
}

// perf's record of the kernel's text: "[kernel.kallsyms]_text", the place of that symbol as offset.
void Playback::apply_kernel_text(const MapEvent& event) {
  constexpr std::string_view kKernelText = "[kernel.kallsyms]";
  if (!event.in_kernel || !event.path.starts_with(kKernelText)) return;
  if (!wants_kernel_symbols_ || !kallsyms.empty()) return;
  std::string_view symbol = std::string_view(event.path).substr(kKernelText.size());
  kallsyms = symbols_of_running_kernel(header_.kernel_release, symbol, {event.offset.value});
}

Status play(Recording& recording, Playback& playback, const std::function<void(const Event&)>& visit) {
  for (;;) {
    const Event* event = JP_TRY(recording.next());
    if (event == nullptr) return Nothing{};
    playback.apply(*event);
    visit(*event);
  }
}

Result<LoadedProfile> load_profile(const ReadingOptions& options) {
  ProfileBuilder builder;
  builder.profile().sniffer_names = names_of(options.sniffers);
  WorkerPool pool(options.jobs);
  std::optional<Error> damage;
  for (const std::string& file : options.files) {
    Recording recording = JP_TRY(Recording::open(file, &pool));
    JP_TRY(take_header(recording.header(), file, &file == &options.files.front(), builder.profile()));

    Playback playback(options, recording.header());
    builder.begin_run(playback.modules);
    RunReader reader(options, playback, builder, pool);
    Status played = reader.read(recording);
    if (!played.ok() && !damage) damage = played.error();
    builder.profile().duration_ns += reader.duration_ns();

    // From here on no stack is added for this run: every distinct frame gets its names once.
    Symbolizer symbolizer(playback.modules, options.debug_search, builder.profile().names, options.names);
    symbolizer.set_kernel_symbols(std::as_bytes(std::span(playback.kallsyms)));
    builder.finish_run(symbolizer);
    reader.add_shortfalls(builder.profile().shortfalls);
    add_all(playback.shortfalls(), builder.profile().shortfalls);
    add_all(recording.shortfalls(), builder.profile().shortfalls);
    add_all(symbolizer.shortfalls(), builder.profile().shortfalls);
  }
  return LoadedProfile{std::move(builder.profile()), std::move(damage)};
}

}  // namespace jitprof
