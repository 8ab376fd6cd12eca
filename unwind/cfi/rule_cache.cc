// SPDX-License-Identifier: Apache-2.0
#include "unwind/cfi/rule_cache.h"

#include "unwind/cfi/cfi_reader.h"

namespace jitprof {

RuleCache::RuleCache() = default;
RuleCache::~RuleCache() = default;

const UnwindRule* RuleCache::find(const Module& module, ElfAddr position) {
  if (!module.elf) return nullptr;
  Key key{module.id, position};
  if (auto found = rules_.find(key); found != rules_.end()) return found->second;
  const UnwindRule* rule = read(module, position);
  rules_.emplace(key, rule);
  return rule;
}

const UnwindRule* RuleCache::read(const Module& module, ElfAddr position) {
  if (readers_.size() <= module.id.index) readers_.resize(module.id.index + 1);
  std::unique_ptr<CfiReader>& reader = readers_[module.id.index];
  if (reader == nullptr) reader = std::make_unique<CfiReader>(*module.elf);
  auto rule = reader->find(position);
  return rule ? &*distinct_.insert(std::move(*rule)).first : nullptr;
}

}  // namespace jitprof
