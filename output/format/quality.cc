// SPDX-License-Identifier: Apache-2.0
#include "output/format/quality.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "output/completeness.h"
#include "output/footer.h"
#include "output/format/quantity.h"

namespace jitprof {
namespace {

constexpr int kCountWidth = 9;
constexpr int kShareWidth = 8;

// A line of the table: what incomplete stacks of one process have in common.
struct Ending {
  std::string process;
  std::string module;
  StackEnd end;  // one of them
  uint64_t stacks = 0;
};

std::string module_of(const Profile& profile, ProfileFrameId outermost) {
  if (outermost.is_none()) return "[no frame]";
  const ProfileFrame& frame = profile.frames[outermost.index];
  if (frame.kind == ProfileFrame::Kind::kJit) return "[jit code]";
  return frame.module.is_none() ? "[unmapped]" : on_one_line(profile.modules[frame.module.index].path);
}

// "comm pid" of every process, by its pid and start. A process is called what its main thread was called
// last, or its first thread when that one was never sampled.
class ProcessNames {
 public:
  explicit ProcessNames(const Profile& profile) {
    for (const ProfileThread& thread : profile.threads) {
      auto [place, is_new] = comms_.try_emplace({thread.pid, thread.process_start_ns}, thread.comm);
      if (!is_new && thread.tid == thread.pid) place->second = thread.comm;
    }
  }
  std::string name(const ProfileThread& thread) const {
    std::string comm = on_one_line(comms_.at({thread.pid, thread.process_start_ns}));
    return (comm.empty() ? "?" : comm) + " " + std::to_string(thread.pid);
  }

 private:
  std::map<std::pair<uint32_t, uint64_t>, std::string> comms_;
};

std::vector<Ending> find_endings(const Profile& profile, const View& view) {
  std::vector<StackEnd> ends = find_stack_ends(profile);
  // One entry per thread and last frame, before any text is made.
  std::map<std::tuple<ProfileThreadId, StopReason, ProfileFrameId>, uint64_t> counts;
  for (const ProfileRow& row : profile.rows) {
    const StackEnd& end = ends[row.stack.index];
    if (end.reason != StopReason::kReachedRoot && view.shows(profile, row))
      ++counts[{row.thread, end.reason, end.outermost}];
  }
  ProcessNames processes(profile);
  std::map<std::tuple<std::string, std::string, StopReason>, Ending> merged;
  for (const auto& [key, count] : counts) {
    const auto& [thread, reason, outermost] = key;
    Ending ending{.process = processes.name(profile.threads[thread.index]),
                  .module = module_of(profile, outermost),
                  .end = {reason, outermost}};
    auto place = merged.try_emplace({ending.process, ending.module, reason}, ending).first;
    place->second.stacks += count;
  }
  std::vector<Ending> endings;
  for (auto& [key, ending] : merged) endings.push_back(std::move(ending));
  std::stable_sort(endings.begin(), endings.end(),
                   [](const Ending& a, const Ending& b) { return a.stacks > b.stacks; });
  return endings;
}

using Line = std::pair<uint64_t, std::string>;

// Highest count first, then by name.
std::vector<Line> sorted(std::vector<Line> lines) {
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return lines;
}

std::vector<Line> finders_of(const Profile& profile) {
  const UnwindingCounts& counts = profile.unwinding;
  std::vector<Line> finders = {{counts.top, "the sample itself"}, {counts.recorded_chain, "recorded chain"}};
  for (size_t index = 0; index < profile.sniffer_names.size(); ++index)
    finders.emplace_back(counts.by_sniffer[index], on_one_line(profile.sniffer_names[index]));
  std::erase_if(finders, [](const Line& finder) { return finder.first == 0; });
  return sorted(std::move(finders));
}

void write_finders(const Profile& profile, std::ostream& out) {
  std::vector<Line> finders = finders_of(profile);
  if (finders.empty()) return;
  uint64_t all = 0;
  for (const Line& finder : finders) all += finder.first;
  out << '\n'
      << std::setw(kCountWidth) << "frames" << std::setw(kShareWidth) << "share"
      << "  found by\n";
  for (const auto& [count, name] : finders) {
    out << std::setw(kCountWidth) << count << std::setw(kShareWidth) << shown_percent(count, all) << "  "
        << name << '\n';
  }
}

void write_doubtful(const Profile& profile, std::ostream& out) {
  std::vector<Line> modules;
  for (const auto& [module, count] : profile.unwinding.following_no_call) {
    std::string path = module.is_none() ? "[unmapped]" : on_one_line(profile.modules[module.index].path);
    modules.emplace_back(count, path);
  }
  if (modules.empty()) return;
  out << '\n'
      << std::setw(kCountWidth) << "frames"
      << "  kept, but their return address follows no call\n";
  for (const auto& [count, path] : sorted(std::move(modules)))
    out << std::setw(kCountWidth) << count << "  " << path << '\n';
}

void write_endings(const Profile& profile, const std::vector<Ending>& endings, const Page& page,
                   uint64_t stacks, std::ostream& out) {
  size_t process_width = 7, module_width = 8;
  for (uint64_t index = page.first; index < page.end; ++index) {
    process_width = std::max(process_width, endings[index].process.size());
    module_width = std::max(module_width, endings[index].module.size());
  }
  auto column = [&out](const std::string& text, size_t width) {
    out << "  " << std::left << std::setw(static_cast<int>(width)) << text << std::right;
  };
  out << '\n' << std::setw(kCountWidth) << "stacks" << std::setw(kShareWidth) << "share";
  column("reason", 14);
  column("process", process_width);
  column("ended in", module_width);
  out << "  what helps\n";
  for (uint64_t index = page.first; index < page.end; ++index) {
    const Ending& ending = endings[index];
    out << std::setw(kCountWidth) << ending.stacks << std::setw(kShareWidth)
        << shown_percent(ending.stacks, stacks);
    column(name_of(ending.end.reason), 14);
    column(ending.process, process_width);
    column(ending.module, module_width);
    out << "  " << fix_for(profile, ending.end) << '\n';
  }
}

// Stacks are counted, whatever the view sums.
View counting(const Profile& profile, View view) {
  if (profile.value_types[view.value].by_period) --view.value;
  return view;
}

}  // namespace

void write_quality(const Profile& profile, const View& view, const TextOptions& options, std::ostream& out) {
  Completeness counts = count_complete(profile, view);
  std::vector<Ending> endings = find_endings(profile, view);
  Page page = page_of(options, endings.size());
  out << describe_view(profile, counting(profile, view), counts.stacks) << "complete: " << counts.complete()
      << " of " << counts.stacks << " stacks (" << shown_percent(counts.complete(), counts.stacks) << " %)\n";
  if (profile.stack_size > 0) out << "recorded: " << profile.stack_size << " stack bytes asked per sample\n";
  out << describe_page(page, endings.size(), "kinds of incomplete stacks");
  for (const std::string& line : missing_lines(profile)) out << "missing: " << line << '\n';
  write_finders(profile, out);
  write_doubtful(profile, out);
  if (page.first < page.end) write_endings(profile, endings, page, counts.stacks, out);
}

}  // namespace jitprof
