// SPDX-License-Identifier: Apache-2.0
#include "tests/output/text_profile.h"

#include <charconv>
#include <optional>

#include "base/result.h"

namespace jitprof::tests {
namespace {

std::optional<StopReason> find_bracket(std::string_view name) {
  for (unsigned index = 1; index < kStopReasonCount; ++index) {
    if (name == bracket_of(static_cast<StopReason>(index))) return static_cast<StopReason>(index);
  }
  return std::nullopt;
}

bool take_ending(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

uint32_t number(std::string_view text) {
  uint32_t value = 0;
  JP_CHECK(std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc());
  return value;
}

std::pair<std::string_view, std::string_view> cut(std::string_view text, size_t at) {
  return {text.substr(0, at), at == std::string_view::npos ? std::string_view() : text.substr(at + 1)};
}

class TextReader {
 public:
  Profile read(std::string_view text) {
    maker_.profile.value_types = {{"samples", "count", 0, false}, {"cpu", "nanoseconds", 0, true}};
    thread_ = maker_.thread(1, 1, "main");
    while (!text.empty()) {
      auto [line, rest] = cut(text, text.find('\n'));
      read_line(line);
      text = rest;
    }
    return std::move(maker_.profile);
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty()) return;
    if (line.starts_with("#event ")) {
      event_ = static_cast<uint16_t>(number(line.substr(7)));
      if (event_ == 1 && maker_.profile.value_types.size() == 2) {
        maker_.profile.value_types.push_back({"cycles.samples", "count", 1, false});
        maker_.profile.value_types.push_back({"cycles", "count", 1, true});
      }
    } else if (line.front() == '@') {
      auto [ids, comm] = cut(line.substr(1), line.find(' ') - 1);
      auto [pid, tid] = cut(ids, ids.find('/'));
      thread_ = maker_.thread(number(pid), number(tid), std::string(comm));
    } else {
      auto [stack, count] = cut(line, line.rfind(' '));
      maker_.rows(read_stack(stack), thread_, number(count), event_);
    }
  }

  StackId read_stack(std::string_view text) {
    StackId stack;
    std::vector<std::string_view> names;  // of one physical frame, outermost first
    while (!text.empty()) {
      auto [name, rest] = cut(text, text.find(';'));
      if (!name.ends_with("_[i]") && !names.empty()) stack = add_frame(stack, names);
      if (!name.ends_with("_[i]")) names.clear();
      names.push_back(name);
      text = rest;
    }
    return add_frame(stack, names);
  }

  StackId add_frame(StackId caller, const std::vector<std::string_view>& names) {
    std::string key;
    for (std::string_view name : names) key.append(name) += ';';
    auto [place, is_new] = frames_.try_emplace(key);
    if (is_new) place->second = make_frame(names);
    return maker_.stack(caller, place->second);
  }

  ProfileFrameId make_frame(const std::vector<std::string_view>& names) {
    ProfileFrame frame;
    frame.position = {0x1000 + 16 * maker_.profile.frames.size()};
    for (std::string_view name : names) {
      take_ending(name, "_[i]");
      if (take_ending(name, "_[j]")) frame.kind = ProfileFrame::Kind::kJit;
      if (take_ending(name, "_[k]")) frame.kind = ProfileFrame::Kind::kKernel;
      if (take_ending(name, "_[l]")) frame.frame_class = FrameClass::kLibrary;
      if (take_ending(name, "_[r]")) frame.frame_class = FrameClass::kRuntime;
      if (frame.frame_class != FrameClass::kApplication && maker_.profile.modules.empty())
        maker_.profile.modules.push_back({.path = "/app", .has_lines = true});
      if (auto stop = find_bracket(name)) {
        frame.kind = ProfileFrame::Kind::kBracket;
        frame.stop = *stop;
        frame.position = {};
      }
      SourceFrame line;
      line.function = maker_.function(name);
      frame.lines.insert(frame.lines.begin(), line);
    }
    return maker_.frame(std::move(frame));
  }

  ProfileMaker maker_;
  ProfileThreadId thread_;
  uint16_t event_ = 0;
  std::map<std::string, ProfileFrameId> frames_;
};

}  // namespace

Profile parse_text_profile(std::string_view text) { return TextReader().read(text); }

FunctionId ProfileMaker::function(std::string_view name, std::string_view signature,
                                  std::string_view linkage_name, std::string_view file, uint32_t line) {
  Function made;
  made.name = profile.names.intern(name);
  made.signature = signature.empty() ? made.name : profile.names.intern(signature);
  if (!linkage_name.empty()) made.linkage_name = profile.names.intern(linkage_name);
  if (!file.empty()) made.file = profile.names.intern(file);
  made.line = line;
  return profile.names.add(made);
}

ProfileFrameId ProfileMaker::frame(ProfileFrame frame) {
  profile.frames.push_back(std::move(frame));
  return {static_cast<uint32_t>(profile.frames.size() - 1)};
}

StackId ProfileMaker::stack(StackId caller, ProfileFrameId frame) {
  auto [place, is_new] =
      stack_ids_.try_emplace({caller, frame}, StackId{static_cast<uint32_t>(profile.stacks.size())});
  if (is_new) profile.stacks.push_back({caller, frame});
  return place->second;
}

void ProfileMaker::rows(StackId stack, ProfileThreadId thread, uint64_t count, uint16_t event) {
  for (uint64_t index = 0; index < count; ++index) {
    ProfileRow row;
    row.stack = stack;
    row.thread = thread;
    row.time_ns = profile.rows.size() * 1000;
    row.weight = 1'000'000 + profile.rows.size();
    row.event = event;
    profile.rows.push_back(row);
  }
}

ProfileThreadId ProfileMaker::thread(uint32_t pid, uint32_t tid, const std::string& comm) {
  profile.threads.push_back({pid, tid, 0, comm});
  return {static_cast<uint32_t>(profile.threads.size() - 1)};
}

}  // namespace jitprof::tests
