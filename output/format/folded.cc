// SPDX-License-Identifier: Apache-2.0
#include "output/format/folded.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/one_line.h"

namespace jitprof {
namespace {

constexpr std::array<const char*, 4> kAnnotations = {"", "_[i]", "_[j]", "_[k]"};

// An inlined frame is marked as such whatever it is inlined into.
size_t annotation_of(const ProfileFrame& frame, size_t line) {
  if (line + 1 < frame.lines.size()) return 1;
  if (frame.kind == ProfileFrame::Kind::kJit) return 2;
  return frame.kind == ProfileFrame::Kind::kKernel ? 3 : 0;
}

std::string as_folded(std::string_view name) {
  std::string text = on_one_line(name);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

// The texts of a profile's frames, each once, by rank: the order of texts is that of ranks.
class FrameTexts {
 public:
  FrameTexts(const Profile& profile, const FoldedOptions& options) {
    constexpr uint32_t kNone = UINT32_MAX;
    std::vector<uint32_t> known(profile.names.function_count() * kAnnotations.size(), kNone);
    std::vector<std::string> texts;
    for (const ProfileFrame& frame : profile.frames) {
      first_.push_back(static_cast<uint32_t>(ranks_.size()));
      for (size_t line = 0; line < frame.lines.size(); ++line) {
        size_t annotation = options.annotate ? annotation_of(frame, line) : 0;
        FunctionId id = frame.lines[line].function;
        uint32_t& text = known[id.index * kAnnotations.size() + annotation];
        if (text == kNone) {
          const Function& function = profile.names.function(id);
          StringId name = options.signatures ? function.signature : function.name;
          text = static_cast<uint32_t>(texts.size());
          texts.push_back(as_folded(profile.names.text(name)) + kAnnotations[annotation]);
        }
        ranks_.push_back(text);
      }
    }
    first_.push_back(static_cast<uint32_t>(ranks_.size()));
    rank(texts);
  }

  uint32_t line_count(ProfileFrameId frame) const { return first_[frame.index + 1] - first_[frame.index]; }
  uint32_t rank_of(ProfileFrameId frame, uint32_t line) const { return ranks_[first_[frame.index] + line]; }
  const std::string& text(uint32_t rank) const { return texts_[rank]; }

 private:
  // Functions of one text have one rank.
  void rank(const std::vector<std::string>& texts) {
    texts_ = texts;
    std::sort(texts_.begin(), texts_.end());
    texts_.erase(std::unique(texts_.begin(), texts_.end()), texts_.end());
    std::vector<uint32_t> rank_of;
    for (const std::string& text : texts) {
      auto place = std::lower_bound(texts_.begin(), texts_.end(), text);
      rank_of.push_back(static_cast<uint32_t>(place - texts_.begin()));
    }
    for (uint32_t& text : ranks_) text = rank_of[text];
  }

  std::vector<uint32_t> first_;     // in ranks_, by frame; and once more for the end
  std::vector<uint32_t> ranks_;     // of each frame's lines
  std::vector<std::string> texts_;  // by rank
};

// Writes the stacks of a view as one walk from the roots, on which all that have one text so far go together.
// Nothing is looked up, and stacks are met nearly in the order in which they were made.
class FoldedWriter {
 public:
  FoldedWriter(const Profile& profile, const View& view, const FoldedOptions& options, std::ostream& out)
      : profile_(profile),
        is_physical_only_(!view.inlined),
        texts_(profile, options),
        self_(profile.stacks.size()),
        out_(out) {
    for (const WeightedStack& stack : aggregate(profile, view)) self_[stack.stack.index] = stack.weight;
    arrange_callees();
  }

  void write() {
    add_callees(StackId());
    open_level(0);
    while (!levels_.empty()) {
      Level& level = levels_.back();
      line_.resize(level.line_size);
      if (level.next < positions_.size()) {
        write_next(level);
      } else {
        positions_.resize(level.begin);
        levels_.pop_back();
      }
    }
  }

 private:
  // A source-level frame of a stack.
  struct Position {
    uint32_t rank = 0;  // of its text
    StackId stack;
    uint32_t line = 0;  // of the physical frame
  };
  // What is called behind one text: the last positions, from `begin` on, written up to `next`.
  struct Level {
    size_t begin = 0;
    size_t next = 0;
    size_t line_size = 0;
  };

  // Writes the positions of the level's next text, and goes on with what they call.
  void write_next(Level& level) {
    uint32_t rank = positions_[level.next].rank;
    if (!line_.empty()) line_ += ';';
    line_ += texts_.text(rank);
    uint64_t self = 0;
    size_t end = positions_.size();
    for (; level.next < end && positions_[level.next].rank == rank; ++level.next) {
      Position position = positions_[level.next];
      if (position.line > 0 && !is_physical_only_) {
        add_position(position.stack, position.line - 1);
      } else {
        self += self_[position.stack.index];
        add_callees(position.stack);
      }
    }
    if (self > 0) out_ << line_ << ' ' << self << '\n';
    open_level(end);
  }

  void open_level(size_t begin) {
    if (begin == positions_.size()) return;
    std::sort(positions_.begin() + static_cast<ptrdiff_t>(begin), positions_.end(),
              [](const Position& a, const Position& b) { return a.rank < b.rank; });
    levels_.push_back({begin, begin, line_.size()});
  }

  void add_callees(StackId caller) {
    // The none id wraps round to the first place.
    uint32_t place = caller.index + 1;
    for (uint32_t index = first_callee_[place]; index < first_callee_[place + 1]; ++index) {
      StackId callee = callees_[index];
      add_position(callee, texts_.line_count(profile_.stacks[callee.index].frame) - 1);
    }
  }

  void add_position(StackId stack, uint32_t line) {
    positions_.push_back({texts_.rank_of(profile_.stacks[stack.index].frame, line), stack, line});
  }

  // Lists the callees of each stack that lead to something of the view.
  void arrange_callees() {
    const std::vector<StackNode>& stacks = profile_.stacks;
    std::vector<bool> is_shown(stacks.size());
    first_callee_.assign(stacks.size() + 2, 0);
    // Callers have smaller ids.
    for (size_t index = stacks.size(); index-- > 0;) {
      is_shown[index] = is_shown[index] || self_[index] > 0;
      if (!is_shown[index]) continue;
      StackId caller = stacks[index].caller;
      if (!caller.is_none()) is_shown[caller.index] = true;
      ++first_callee_[caller.index + 1];
    }
    uint32_t sum = 0;
    for (uint32_t& first : first_callee_) {
      sum += first;
      first = sum;
    }
    callees_.resize(sum);
    for (uint32_t index = static_cast<uint32_t>(stacks.size()); index-- > 0;) {
      if (is_shown[index]) callees_[--first_callee_[stacks[index].caller.index + 1]] = {index};
    }
  }

  const Profile& profile_;
  bool is_physical_only_;
  FrameTexts texts_;
  std::vector<uint64_t> self_;          // by stack
  std::vector<uint32_t> first_callee_;  // in callees_: of no stack, then by stack; and once more for the end
  std::vector<StackId> callees_;
  std::vector<Position> positions_;
  std::vector<Level> levels_;
  std::string line_;
  std::ostream& out_;
};

}  // namespace

void write_folded(const Profile& profile, const View& view, const FoldedOptions& options, std::ostream& out) {
  FoldedWriter(profile, view, options, out).write();
}

}  // namespace jitprof
