// SPDX-License-Identifier: Apache-2.0
#include "profiler/source.h"

#include <utility>

namespace jitprof {

Result<const Event*> Recording::Source::next(Earlier earlier) {
  if (earlier == Earlier::kDrop) order_.drop_handed_out();
  while (true) {
    if (const HeldRecord* record = order_.next()) return &decode(*record);
    if (damage_) return *damage_;
    if (at_end_) return nullptr;
    Result<bool> more = read_record();
    if (!more.ok()) {
      damage_ = more.error();
      order_.release_all();
    } else if (!more.value()) {
      at_end_ = true;
      order_.release_all();
    }
    if (order_.late_count() > 0) shortfalls_["events out of order of time"] = order_.late_count();
  }
}

void Recording::Source::count_shortfall(const std::string& name, uint64_t count) {
  shortfalls_[name] += count;
}

}  // namespace jitprof
