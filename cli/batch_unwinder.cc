// SPDX-License-Identifier: Apache-2.0
#include "cli/batch_unwinder.h"

#include <algorithm>

namespace jitprof {
namespace {

constexpr size_t kMostItems = 512;
constexpr uint64_t kMostStackBytes = 2u << 20;
// Samples that one thread takes at once: some 10 µs of work.
constexpr size_t kSliceItems = 8;

}  // namespace

BatchUnwinder::BatchUnwinder(const UnwindSources& sources, const ProcessTable& processes, uint32_t max_depth,
                             WorkerPool& pool)
    : processes_(processes), max_depth_(max_depth), pool_(pool), items_(kMostItems) {
  for (unsigned worker = 0; worker < pool.jobs(); ++worker) places_.emplace_back(sources);
}

bool BatchUnwinder::is_full() const { return size_ == items_.size() || stack_bytes_ >= kMostStackBytes; }

void BatchUnwinder::add(const Sample& sample, const Process& process,
                        const ProfileBuilder::Context& context) {
  Item& item = items_[size_++];
  item.sample = sample;
  item.kernel_chain.assign(sample.kernel_chain.begin(), sample.kernel_chain.end());
  item.user_chain.assign(sample.user_chain.begin(), sample.user_chain.end());
  item.sample.kernel_chain = item.kernel_chain;
  item.sample.user_chain = item.user_chain;
  item.process = &process;
  item.context = context;
  for (uint32_t i = 0; i < sample.stack_count; ++i) stack_bytes_ += sample.stack[i].bytes.size();
}

void BatchUnwinder::unwind_all(Visitor visit) {
  auto unwind_slice = [this](size_t slice, unsigned worker) {
    size_t end = std::min(size_, (slice + 1) * kSliceItems);
    for (size_t index = slice * kSliceItems; index < end; ++index) {
      Item& item = items_[index];
      unwind(item.sample, processes_, *item.process, places_[worker], max_depth_, item.stack);
    }
  };
  pool_.share((size_ + kSliceItems - 1) / kSliceItems, unwind_slice);
  for (size_t index = 0; index < size_; ++index) visit(items_[index].context, items_[index].stack);
  size_ = 0;
  stack_bytes_ = 0;
}

PlaceCache::Refusals BatchUnwinder::refusals() const {
  PlaceCache::Refusals sum;
  for (const PlaceCache& places : places_) {
    for (const auto& [key, count] : places.refusals()) sum[key] += count;
  }
  return sum;
}

}  // namespace jitprof
