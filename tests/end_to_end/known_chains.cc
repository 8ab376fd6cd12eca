// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/known_chains.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/result.h"
#include "tests/temp_dir.h"

namespace jitprof::tests {
namespace {

// "descend x60" stands for 60 frames of that name.
std::vector<std::string> parse_chain(const std::string& text) {
  std::vector<std::string> frames;
  for (const std::string& part : split(text, ';')) {
    size_t times = part.rfind(" x");
    int count = times == std::string::npos ? 1 : std::atoi(part.c_str() + times + 2);
    frames.insert(frames.end(), count, part.substr(0, times));
  }
  return frames;
}

// `*` stands for any number of frames.
bool fits(const std::string* pattern, const std::string* pattern_end, const std::string* frame,
          const std::string* frame_end) {
  if (pattern == pattern_end) return frame == frame_end;
  if (*pattern == "*") {
    for (const std::string* next = frame;; ++next) {
      if (fits(pattern + 1, pattern_end, next, frame_end)) return true;
      if (next == frame_end) return false;
    }
  }
  return frame != frame_end && *pattern == *frame && fits(pattern + 1, pattern_end, frame + 1, frame_end);
}

}  // namespace

KnownChains::KnownChains(const std::string& compiler) {
  std::set<std::filesystem::path> sources;
  for (const auto& entry : std::filesystem::directory_iterator(JP_SOURCE_ROOT "/tests/programs/truth")) {
    if (entry.path().extension() == ".cc") sources.insert(entry.path());
  }
  for (const auto& source : sources) {
    for (const std::string& line : split(read_file(source.string()), '\n')) {
      for (const std::string& mark : {std::string("// chain: "), "// chain(" + compiler + "): "}) {
        if (line.starts_with(mark)) chains_.push_back(parse_chain(line.substr(mark.size())));
      }
    }
  }
  JP_CHECK(!chains_.empty());
}

std::vector<std::string> KnownChains::below_root(const FoldedStack& stack) const {
  auto is_root = [&](const std::string& frame) {
    return std::ranges::any_of(chains_, [&](const auto& chain) { return chain.front() == frame; });
  };
  auto begin = std::ranges::find_if(stack.frames, is_root);
  auto end = std::find_if(begin, stack.frames.end(),
                          [](const std::string& frame) { return frame.ends_with("_[k]"); });
  return {begin, end};
}

bool KnownChains::covers(const FoldedStack& stack) const { return below_root(stack).size() > 1; }

bool KnownChains::matches(const FoldedStack& stack) const {
  std::vector<std::string> frames = below_root(stack);
  return std::ranges::any_of(chains_, [&](const auto& chain) {
    return fits(chain.data(), chain.data() + chain.size(), frames.data(), frames.data() + frames.size());
  });
}

Share share_of_known(const KnownChains& chains, const std::vector<FoldedStack>& stacks) {
  Share share;
  for (const FoldedStack& stack : stacks) {
    if (!chains.covers(stack)) continue;
    share.covered += stack.value;
    if (chains.matches(stack)) {
      share.matching += stack.value;
      continue;
    }
    if (share.first_misses.size() > 4000) continue;
    for (const std::string& frame : stack.frames) share.first_misses += frame + ";";
    share.first_misses += " " + std::to_string(stack.value) + "\n";
  }
  return share;
}

}  // namespace jitprof::tests
