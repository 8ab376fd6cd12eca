// SPDX-License-Identifier: Apache-2.0
#include "output/format/pprof_layout.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace jitprof {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kFirstPlace = 0x7f00'0000'0000;
// Of a file's executable segment; more than that is damage.
constexpr uint64_t kMostText = uint64_t{1} << 40;

uint64_t page_down(uint64_t position) { return position & ~(kPage - 1); }
uint64_t page_up(uint64_t position) { return page_down(position + kPage - 1); }

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_program(const Profile& profile, const ProfileFrame& frame) {
  if (frame.module.is_none()) return false;
  std::string_view command = profile.command;
  return file_name(profile.modules[frame.module.index].path) ==
         file_name(command.substr(0, command.find(' ')));
}

// The frames of one mapping.
struct Group {
  const ProfileModule* module = nullptr;
  const TextSegment* segment = nullptr;  // none: known by the frames' positions only
  ProfileFrame::Kind kind = ProfileFrame::Kind::kNative;
  uint64_t low = UINT64_MAX;
  uint64_t high = 0;
  std::vector<ProfileFrameId> frames;
};

const TextSegment* find_segment(const ProfileModule& module, ElfAddr position) {
  for (const TextSegment& segment : module.text) {
    if (position >= segment.start && position.distance_from(segment.start) < segment.size) return &segment;
  }
  return nullptr;
}

class LayoutMaker {
 public:
  explicit LayoutMaker(const Profile& profile) : profile_(profile) {
    layout_.places.resize(profile.frames.size());
  }

  PprofLayout make(const std::vector<ProfileFrameId>& used) {
    for (bool program : {true, false}) {
      for (ProfileFrameId id : used) {
        if (is_program(profile_, profile_.frames[id.index]) == program) add(id);
      }
    }
    for (const Group& group : groups_) place(group);
    return std::move(layout_);
  }

 private:
  using Key = std::pair<const void*, bool>;  // segment or module or nothing, is it JIT code

  void add(ProfileFrameId id) {
    const ProfileFrame& frame = profile_.frames[id.index];
    if (frame.kind == ProfileFrame::Kind::kBracket) return;
    bool jit = frame.kind == ProfileFrame::Kind::kJit;
    if (frame.module.is_none() && !jit) {
      layout_.places[id.index].position = frame.position.value;
      return;
    }
    const ProfileModule* module = jit ? nullptr : &profile_.modules[frame.module.index];
    const TextSegment* segment = jit ? nullptr : find_segment(*module, frame.position);
    const void* what = segment != nullptr ? static_cast<const void*>(segment) : module;
    auto [found, is_new] = group_of_.try_emplace(Key{what, jit}, groups_.size());
    if (is_new) {
      groups_.emplace_back();
      groups_.back().module = module;
      groups_.back().segment = segment;
      groups_.back().kind = frame.kind;
    }
    Group& group = groups_[found->second];
    group.low = std::min(group.low, frame.position.value);
    group.high = std::max(group.high, frame.position.value);
    group.frames.push_back(id);
  }

  void place(const Group& group) {
    PprofLayout::Mapping mapping;
    uint64_t moved = 0;  // place − ElfAddr; wraps around
    if (group.kind == ProfileFrame::Kind::kJit || group.kind == ProfileFrame::Kind::kKernel) {
      mapping.start = page_down(group.low);
      mapping.limit = page_up(group.high + 1);
      mapping.file_offset = mapping.start;  // as the kernel says of its own text
    } else {
      moved = place_file(group, mapping);
    }
    mapping.file = "[jit]";
    if (group.module != nullptr) {
      // The name that every other tool knows the kernel's own text by.
      mapping.file = group.module->path == "[kernel]" ? "[kernel.kallsyms]" : group.module->path;
      mapping.build_id = group.module->build_id.hex();
    }
    layout_.mappings.push_back(std::move(mapping));
    for (ProfileFrameId id : group.frames) {
      layout_.places[id.index] = {layout_.mappings.size(), profile_.frames[id.index].position.value + moved};
    }
  }

  uint64_t place_file(const Group& group, PprofLayout::Mapping& mapping) {
    uint64_t start = group.segment != nullptr ? group.segment->start.value : group.low;
    uint64_t size =
        group.segment != nullptr ? std::min(group.segment->size, kMostText) : group.high - group.low + 1;
    uint64_t offset = group.segment != nullptr ? group.segment->offset.value : group.low;
    // Mappings begin at page bounds. A segment whose place and offset disagree below them cannot be mapped at
    // all.
    uint64_t in_page = (start - offset) % kPage == 0 ? start % kPage : 0;
    bool fixed = group.segment != nullptr && group.module->is_fixed;
    mapping.start = fixed ? start - in_page : next_place_;
    mapping.limit = page_up(mapping.start + in_page + size);
    mapping.file_offset = offset - in_page;
    // A page between neighbours: pprof joins mappings that touch and could be one.
    if (!fixed) next_place_ = mapping.limit + kPage;
    return mapping.start + in_page - start;
  }

  const Profile& profile_;
  PprofLayout layout_;
  uint64_t next_place_ = kFirstPlace;
  std::map<Key, size_t> group_of_;  // looked up only; groups_ has the order
  std::vector<Group> groups_;
};

}  // namespace

PprofLayout lay_out_for_pprof(const Profile& profile, const std::vector<ProfileFrameId>& used) {
  return LayoutMaker(profile).make(used);
}

}  // namespace jitprof
