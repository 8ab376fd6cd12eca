// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace jitprof {

// Finds the nodes of a tree by what they are below their caller (Node::key, different for any two), and adds
// new ones. Who holds the tree leaves adding to this alone. An open hash table of ids, whose keys are the
// nodes themselves: a std::unordered_map took twice as long, and as long again to free.
template <class NodeId, class Node>
class TreeIndex {
 public:
  struct Found {
    NodeId id;
    bool is_new = false;
  };
  Found find_or_add(std::vector<Node>& nodes, const Node& wanted) {
    make_room(nodes);
    uint64_t key = wanted.key();
    for (size_t slot = home_of(key);; slot = after(slot)) {
      NodeId id = slots_[slot];
      if (id.is_none()) return {put(slot, nodes, wanted), true};
      if (nodes[id.index].key() == key) return {id, false};
    }
  }
  // A node that cannot be there yet, as below a new caller. Waits for no memory, which finding spends its
  // time with.
  NodeId add(std::vector<Node>& nodes, const Node& fresh) {
    make_room(nodes);
    return put(free_slot(fresh.key()), nodes, fresh);
  }

 private:
  size_t home_of(uint64_t key) const { return (key ^ key >> 29) * 0x9e3779b97f4a7c15 >> (64 - bits_); }
  size_t after(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  size_t free_slot(uint64_t key) const {
    size_t slot = home_of(key);
    while (!slots_[slot].is_none()) slot = after(slot);
    return slot;
  }

  NodeId put(size_t slot, std::vector<Node>& nodes, const Node& fresh) {
    NodeId id{static_cast<uint32_t>(nodes.size())};
    slots_[slot] = id;
    nodes.push_back(fresh);
    return id;
  }

  void make_room(const std::vector<Node>& nodes) {
    if (nodes.size() * 2 < slots_.size()) return;
    bits_ = std::max(bits_ + 1, 12u);
    slots_.assign(size_t{1} << bits_, NodeId());
    for (uint32_t index = 0; index < nodes.size(); ++index) slots_[free_slot(nodes[index].key())] = {index};
  }

  std::vector<NodeId> slots_;  // at most half of them taken
  unsigned bits_ = 0;
};

}  // namespace jitprof
