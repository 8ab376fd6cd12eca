// SPDX-License-Identifier: Apache-2.0
#include "symbolize/names.h"

namespace jitprof {

FunctionId Names::add(const Function& function) {
  auto [place, is_new] = ids_.try_emplace({function.name, function.linkage_name, function.file},
                                          FunctionId{static_cast<uint32_t>(functions_.size())});
  if (is_new) functions_.push_back(function);
  return place->second;
}

size_t Names::Hash::operator()(const std::tuple<StringId, StringId, StringId>& key) const {
  uint64_t hash = std::get<0>(key).index;
  hash = hash * 0x9e3779b97f4a7c15 + std::get<1>(key).index;
  hash = hash * 0x9e3779b97f4a7c15 + std::get<2>(key).index;
  return hash ^ (hash >> 32);
}

}  // namespace jitprof
