// SPDX-License-Identifier: Apache-2.0
#include "output/call_tree.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/result.h"

namespace jitprof {
namespace {

constexpr uint32_t kNoNode = 0xffffffff;

// Merges stacks into nodes in order of first sight, then puts the nodes into preorder.
class TreeMaker {
 public:
  TreeMaker(const Profile& profile, const View& view) : profile_(profile), view_(view) {}

  CallTree make() {
    CallTree tree;
    std::vector<uint64_t> self(profile_.stacks.size());
    for (const WeightedStack& stack : aggregate(profile_, view_)) {
      self[stack.stack.index] = stack.weight;
      tree.total += stack.weight;
    }
    merge(self);
    arrange(tree.nodes);
    return tree;
  }

 private:
  struct Key {
    uint32_t caller;
    FunctionId function;
    ProfileFrame::Kind kind;
    bool inlined;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t hash = (static_cast<uint64_t>(key.caller) << 32 | key.function.index) * 0x9e3779b97f4a7c15;
      hash = (hash ^ (hash >> 29)) + static_cast<uint64_t>(key.kind) * 2 + key.inlined;
      hash *= 0x9e3779b97f4a7c15;
      return hash ^ (hash >> 32);
    }
  };

  // One pass over the profile's own stack tree, not one over every frame of every stack.
  void merge(const std::vector<uint64_t>& self) {
    std::vector<uint64_t> total = self;
    for (size_t index = total.size(); index-- > 0;) {
      StackId caller = profile_.stacks[index].caller;
      JP_CHECK(caller.is_none() || caller.index < index);
      if (!caller.is_none()) total[caller.index] += total[index];
    }
    std::vector<uint32_t> node_of(total.size(), kNoNode);
    for (size_t index = 0; index < total.size(); ++index) {
      if (total[index] == 0) continue;
      const StackNode& stack = profile_.stacks[index];
      uint32_t caller = stack.caller.is_none() ? kNoNode : node_of[stack.caller.index];
      node_of[index] = add_frame(caller, profile_.frames[stack.frame.index], total[index]);
      nodes_[node_of[index]].self += self[index];
    }
  }

  // Yields the node of the frame's innermost shown function.
  uint32_t add_frame(uint32_t caller, const ProfileFrame& frame, uint64_t total) {
    size_t last = view_.inlined ? 0 : frame.lines.size() - 1;
    for (size_t index = frame.lines.size(); index-- > last;) {
      bool inlined = index + 1 < frame.lines.size();
      Key key{caller, frame.lines[index].function, frame.kind, inlined};
      auto [place, is_new] = ids_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
      if (is_new) {
        CallNode node;
        node.function = key.function;
        node.kind = frame.kind;
        node.frame_class = frame.frame_class;
        node.inlined = inlined;
        node.module = frame.module;
        nodes_.push_back(node);
        callers_.push_back(caller);
      }
      caller = place->second;
      nodes_[caller].total += total;
    }
    return caller;
  }

  // The order of siblings, independent of the order of samples.
  bool stands_before(uint32_t a, uint32_t b) const {
    const CallNode& left = nodes_[a];
    const CallNode& right = nodes_[b];
    if (left.total != right.total) return left.total > right.total;
    if (left.function != right.function) {
      std::string_view left_name = profile_.names.name(left.function);
      std::string_view right_name = profile_.names.name(right.function);
      if (left_name != right_name) return left_name < right_name;
    }
    return std::tuple(left.function, left.kind, left.inlined) <
           std::tuple(right.function, right.kind, right.inlined);
  }

  void arrange(std::vector<CallNode>& arranged) {
    // Lists of siblings, heaviest first; roots are the siblings below kNoNode.
    std::vector<uint32_t> order(nodes_.size());
    for (uint32_t index = 0; index < order.size(); ++index) order[index] = index;
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return stands_before(a, b); });
    std::vector<uint32_t> first_child(nodes_.size() + 1, kNoNode);
    std::vector<uint32_t> next_sibling(nodes_.size(), kNoNode);
    for (size_t index = order.size(); index-- > 0;) {
      uint32_t node = order[index];
      uint32_t& head = first_child[callers_[node] == kNoNode ? nodes_.size() : callers_[node]];
      next_sibling[node] = head;
      head = node;
    }

    arranged.reserve(nodes_.size());
    std::vector<std::pair<uint32_t, uint32_t>> open;  // node, its place in `arranged`
    uint32_t node = first_child[nodes_.size()];
    while (node != kNoNode || !open.empty()) {
      if (node == kNoNode) {
        auto [done, place] = open.back();
        open.pop_back();
        arranged[place].end = static_cast<uint32_t>(arranged.size());
        node = next_sibling[done];
        continue;
      }
      nodes_[node].level = static_cast<uint32_t>(open.size());
      open.emplace_back(node, static_cast<uint32_t>(arranged.size()));
      arranged.push_back(nodes_[node]);
      node = first_child[node];
    }
  }

  const Profile& profile_;
  const View& view_;
  std::vector<CallNode> nodes_;
  std::vector<uint32_t> callers_;
  std::unordered_map<Key, uint32_t, Hash> ids_;
};

}  // namespace

CallTree build_call_tree(const Profile& profile, const View& view) { return TreeMaker(profile, view).make(); }

std::vector<FunctionSum> sum_functions(const Profile& profile, const CallTree& tree) {
  std::vector<FunctionSum> sums(profile.names.function_count());
  std::vector<uint32_t> active(sums.size());
  std::vector<uint32_t> open;  // nodes that the current one lies in
  for (uint32_t index = 0; index < tree.nodes.size(); ++index) {
    while (!open.empty() && tree.nodes[open.back()].end <= index) {
      --active[tree.nodes[open.back()].function.index];
      open.pop_back();
    }
    const CallNode& node = tree.nodes[index];
    FunctionSum& sum = sums[node.function.index];
    if (sum.function.is_none()) {
      sum.function = node.function;
      sum.module = node.module;
    }
    sum.self += node.self;
    if (active[node.function.index]++ == 0) sum.total += node.total;
    open.push_back(index);
  }
  std::erase_if(sums, [](const FunctionSum& sum) { return sum.function.is_none(); });
  std::sort(sums.begin(), sums.end(), [&profile](const FunctionSum& a, const FunctionSum& b) {
    if (a.self != b.self) return a.self > b.self;
    if (a.total != b.total) return a.total > b.total;
    std::string_view a_name = profile.names.name(a.function);
    std::string_view b_name = profile.names.name(b.function);
    return a_name != b_name ? a_name < b_name : a.function < b.function;
  });
  return sums;
}

}  // namespace jitprof
