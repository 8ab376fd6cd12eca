// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/inline_entries.h"

namespace jitprof::tests {
namespace {

// Looks through the body of `callee` that ends before `cursor`, which is left where the search ended.
bool search_body(const InlineEntries& entries, size_t& cursor, uint32_t callee, uint32_t offset,
                 InlineChain& chain) {
  while (cursor > 0) {
    InlineTable::Entry entry = entries[--cursor];
    if (entry.line <= -3 || offset < entry.value) continue;
    if (entry.line == -2) return false;
    if (entry.line >= 0) {
      chain.emplace_back(callee, entry.line);
      return true;
    }
    InlineTable::Entry inlined = entries[--cursor];
    if (search_body(entries, cursor, inlined.value, offset, chain)) {
      chain.emplace_back(callee, -3 - inlined.line);
      return true;
    }
  }
  return false;
}

}  // namespace

InlineChain look_up_by_definition(const InlineEntries& entries, uint32_t offset) {
  InlineChain chain;
  size_t cursor = entries.size();
  if (!search_body(entries, cursor, InlineTable::kMethod, offset, chain)) {
    chain.emplace_back(InlineTable::kMethod, 0);
  }
  return chain;
}

RandomInlines::RandomInlines(uint32_t seed) {
  std::mt19937 random(seed);
  add_body(random, {}, InlineTable::kMethod, 0);
  add_line(random, {}, InlineTable::kMethod);
  chains.push_back({{InlineTable::kMethod, static_cast<uint32_t>(entries.back().line)}});
}

void RandomInlines::add_line(std::mt19937& random, const InlineChain& around, uint32_t callee) {
  uint32_t line = random() % 1000;
  entries.push_back({static_cast<int32_t>(line), size()});
  InlineChain chain = around;
  chain.insert(chain.begin(), {callee, line});
  chains.insert(chains.end(), random() % 4, chain);
}

void RandomInlines::add_body(std::mt19937& random, const InlineChain& around, uint32_t callee,
                             unsigned depth) {
  bool is_after_close = false;
  for (uint32_t step = 0, steps = random() % 6; step < steps; ++step) {
    is_after_close = depth < 6 && random() % 2 == 0;
    if (!is_after_close) {
      add_line(random, around, callee);
      continue;
    }
    uint32_t start = size(), call_line = random() % 1000, inlined = random() % kCallees;
    InlineChain around_inlined = around;
    around_inlined.insert(around_inlined.begin(), {callee, call_line});
    entries.push_back({-2, start});
    add_body(random, around_inlined, inlined, depth + 1);
    entries.push_back({-3 - static_cast<int32_t>(call_line), inlined});
    entries.push_back({-1, start});
  }
  if (is_after_close) add_line(random, around, callee);
}

std::vector<InlineTable::Callee> numbered_callees(uint32_t count) {
  std::vector<InlineTable::Callee> callees;
  for (uint32_t i = 0; i < count; ++i) callees.push_back({"name " + std::to_string(i), ""});
  return callees;
}

InlineChain chain_of(const InlineTable& table, uint32_t offset) {
  InlineChain chain;
  for (const InlineTable::Frame& frame : table.lookup(offset)) chain.emplace_back(frame.callee, frame.line);
  return chain;
}

}  // namespace jitprof::tests
