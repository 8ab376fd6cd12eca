// SPDX-License-Identifier: Apache-2.0
#include "output/profile_builder.h"

#include <elf.h>

#include <algorithm>
#include <limits>

#include "base/result.h"

namespace jitprof {
namespace {

bool is_same_place(const Frame& a, const Frame& b) {
  return a.module == b.module && a.position == b.position && a.in_kernel == b.in_kernel;
}

void read_layout(const ElfFile& elf, ProfileModule& module) {
  module.is_fixed = elf.type() == ET_EXEC;
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0 || segment.memory_size == 0) continue;
    module.text.push_back({segment.start, segment.memory_size, segment.offset});
  }
  std::sort(module.text.begin(), module.text.end(),
            [](const TextSegment& a, const TextSegment& b) { return a.start < b.start; });
}

// Code in memory that belongs to no file was made by the process itself.
ProfileFrame::Kind kind_of(const Frame& frame, const ModuleTable& modules) {
  if (frame.in_kernel) return ProfileFrame::Kind::kKernel;
  if (frame.module.is_none()) return ProfileFrame::Kind::kNative;
  Module::Kind kind = modules.module(frame.module).kind;
  bool is_jit = kind == Module::Kind::kAnonymous || kind == Module::Kind::kJit;
  return is_jit ? ProfileFrame::Kind::kJit : ProfileFrame::Kind::kNative;
}

}  // namespace

size_t ProfileBuilder::FrameHash::operator()(const FrameKey& key) const {
  uint64_t hash = key.module.index;
  hash = hash * 0x9e3779b97f4a7c15 + key.position.value;
  hash = hash * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(key.bracket) * 2 + key.in_kernel;
  hash = hash * 0x9e3779b97f4a7c15 + key.elided + (uint64_t{key.jit_code} << 32);
  return hash ^ (hash >> 32);
}

void ProfileBuilder::begin_run(const ModuleTable& modules) {
  JP_CHECK(modules_ == nullptr);
  modules_ = &modules;
  run_modules_.clear();
  previous_.clear();
}

ProfileThreadId ProfileBuilder::add_thread(const ProfileThread& thread) {
  profile_.threads.push_back(thread);
  return {static_cast<uint32_t>(profile_.threads.size() - 1)};
}

void ProfileBuilder::add(const Context& context, const UnwoundStack& stack) {
  JP_CHECK(modules_ != nullptr);
  count(stack.frames);
  ProfileRow row;
  row.stack = find_stack(stack);
  row.thread = context.thread;
  row.time_ns = context.time_ns;
  row.weight = context.period;
  row.cpu = context.cpu;
  row.event = context.event;
  row.run = run_;
  profile_.rows.push_back(row);
}

void ProfileBuilder::count(const std::vector<Frame>& frames) {
  // Long runs of frames were found by one sniffer.
  size_t begun = 0;
  for (size_t index = 0; index < frames.size(); ++index) {
    const Frame& frame = frames[index];
    if (frame.origin != frames[begun].origin || frame.sniffer != frames[begun].sniffer) {
      add_to_finder(frames[begun], index - begun);
      begun = index;
    }
    if (frame.follows_no_call) ++profile_.unwinding.following_no_call[intern_module(frame.module)];
  }
  if (!frames.empty()) add_to_finder(frames[begun], frames.size() - begun);
}

void ProfileBuilder::add_to_finder(const Frame& frame, uint64_t count) {
  UnwindingCounts& counts = profile_.unwinding;
  switch (frame.origin) {
    case FrameOrigin::kTop:
      counts.top += count;
      break;
    case FrameOrigin::kRecordedChain:
      counts.recorded_chain += count;
      break;
    case FrameOrigin::kSniffed:
      counts.by_sniffer[frame.sniffer] += count;
  }
}

StackId ProfileBuilder::find_stack(const UnwoundStack& stack) {
  size_t depth = stack.frames.size();
  if (depth == 0) {
    return root_of(stack.stop == StopReason::kReachedRoot ? StopReason::kUnreadable : stack.stop).id;
  }
  // Frames from the root on up to the gap, if there is one; all of previous_ stand before its gap.
  size_t gap = stack.elided.count > 0 ? stack.elided.at : 0;
  size_t shared = 0;
  if (stack.stop == previous_stop_) {
    size_t limit = std::min(depth - gap, previous_.size());
    while (shared < limit && is_same_place(previous_[shared].frame, stack.frames[depth - 1 - shared]))
      ++shared;
  }
  previous_.resize(shared);
  previous_stop_ = stack.stop;
  StackIndex::Found place = shared > 0 ? StackIndex::Found{previous_.back().stack} : root_of(stack.stop);
  for (; shared < depth - gap; ++shared) {
    const Frame& frame = stack.frames[depth - 1 - shared];
    place = intern_stack(place, intern_frame(frame));
    previous_.push_back({frame, place.id});
  }
  if (gap == 0) return place.id;
  place = intern_stack(place, intern_bracket(StopReason::kReachedRoot, stack.elided.count));
  for (size_t index = gap; index-- > 0;) place = intern_stack(place, intern_frame(stack.frames[index]));
  return place.id;
}

ProfileBuilder::StackIndex::Found ProfileBuilder::intern_stack(StackIndex::Found caller,
                                                               ProfileFrameId frame) {
  StackNode node{caller.id, frame};
  if (caller.is_new) return {stack_index_.add(profile_.stacks, node), true};
  return stack_index_.find_or_add(profile_.stacks, node);
}

ProfileBuilder::StackIndex::Found ProfileBuilder::root_of(StopReason stop) {
  return stop == StopReason::kReachedRoot ? StackIndex::Found() : intern_stack({}, intern_bracket(stop, 0));
}

ProfileFrameId ProfileBuilder::intern_bracket(StopReason stop, uint64_t elided) {
  FrameKey key;
  key.bracket = stop;
  key.elided = elided;
  auto [place, is_new] =
      frame_ids_.try_emplace(key, ProfileFrameId{static_cast<uint32_t>(profile_.frames.size())});
  if (is_new) {
    ProfileFrame frame;
    frame.kind = ProfileFrame::Kind::kBracket;
    frame.stop = stop;
    frame.elided = elided;
    profile_.frames.push_back(std::move(frame));
    unnamed_.emplace_back(place->second, Frame());
  }
  return place->second;
}

ProfileFrameId ProfileBuilder::intern_frame(const Frame& frame) {
  FrameKey key;
  key.module = intern_module(frame.module);
  key.position = frame.position;
  key.in_kernel = frame.in_kernel;
  if (!frame.module.is_none() && modules_->module(frame.module).kind == Module::Kind::kJit)
    key.jit_code = jit_codes_before_ + frame.module.index + 1;
  auto [place, is_new] =
      frame_ids_.try_emplace(key, ProfileFrameId{static_cast<uint32_t>(profile_.frames.size())});
  if (is_new) {
    ProfileFrame made;
    made.kind = kind_of(frame, *modules_);
    if (!frame.module.is_none()) made.frame_class = class_of(modules_->module(frame.module));
    made.module = key.module;
    made.position = frame.position;
    profile_.frames.push_back(std::move(made));
    unnamed_.emplace_back(place->second, frame);
  }
  return place->second;
}

ModuleId ProfileBuilder::intern_module(ModuleId of_run) {
  if (of_run.is_none()) return {};
  if (of_run.index >= run_modules_.size()) run_modules_.resize(of_run.index + 1);
  ModuleId& known = run_modules_[of_run.index];
  if (!known.is_none()) return known;
  const Module& module = modules_->module(of_run);
  auto [place, is_new] = module_ids_.try_emplace({module.path, module.build_id},
                                                 ModuleId{static_cast<uint32_t>(profile_.modules.size())});
  if (is_new) {
    ProfileModule made;
    made.path = module.path;
    made.build_id = module.build_id;
    made.problem = module.problem;
    if (module.elf && module.kind != Module::Kind::kJit) read_layout(*module.elf, made);
    profile_.modules.push_back(std::move(made));
  }
  return known = place->second;
}

void ProfileBuilder::finish_run(Symbolizer& symbolizer) {
  JP_CHECK(modules_ != nullptr);
  for (const auto& [id, frame] : unnamed_) {
    ProfileFrame& named = profile_.frames[id.index];
    if (named.kind == ProfileFrame::Kind::kBracket) {
      name_bracket(named);
      continue;
    }
    SymbolizedFrame meaning = symbolizer.symbolize(frame);
    JP_CHECK(!meaning.lines.empty());
    named.lines = std::move(meaning.lines);
    named.offset = meaning.offset;
    note_names(named);
  }
  unnamed_.clear();
  jit_codes_before_ += static_cast<uint32_t>(modules_->size());
  modules_ = nullptr;
  JP_CHECK(run_ < std::numeric_limits<uint16_t>::max());
  ++run_;
}

void ProfileBuilder::name_bracket(ProfileFrame& frame) {
  std::string text = bracket_of(frame.stop);
  if (frame.elided > 0) text = "[elided " + std::to_string(frame.elided) + " frames]";
  Function function;
  function.name = function.signature = profile_.names.intern(text);
  SourceFrame line;
  line.function = profile_.names.add(function);
  frame.lines.push_back(line);
}

// A name that the symbolizer made up from the position ("libc.so.6+0x1234", "0x7f12") is no real one.
void ProfileBuilder::note_names(const ProfileFrame& frame) {
  if (frame.module.is_none()) return;
  ProfileModule& module = profile_.modules[frame.module.index];
  std::string_view path = module.path;
  std::string from_position = std::string(path.substr(path.rfind('/') + 1)) + "+0x";
  for (const SourceFrame& line : frame.lines) {
    std::string_view name = profile_.names.name(line.function);
    if (!name.starts_with(from_position) && !name.starts_with("0x")) module.has_functions = true;
    if (line.line != 0) module.has_lines = true;
  }
}

}  // namespace jitprof
