// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/function_ref.h"
#include "base/worker_pool.h"
#include "output/profile_builder.h"
#include "unwind/walk.h"

namespace jitprof {

// Unwinds samples many at a time, so that several threads can do it. No event may be applied to processes or
// modules while a batch is open: the threads look into them without a lock.
class BatchUnwinder {
 public:
  BatchUnwinder(const UnwindSources& sources, const ProcessTable& processes, uint32_t max_depth,
                WorkerPool& pool);

  bool is_empty() const { return size_ == 0; }
  // Time to unwind: more would only take memory.
  bool is_full() const;
  // Chains are copied; the stack bytes must stay until the batch is unwound.
  void add(const Sample& sample, const Process& process, const ProfileBuilder::Context& context);
  // Hands out the stacks in the order in which the samples were added, and empties the batch.
  using Visitor = FunctionRef<void(const ProfileBuilder::Context&, const UnwoundStack&)>;
  void unwind_all(Visitor visit);

  // Of the sniffers' answers in all batches.
  PlaceCache::Refusals refusals() const;

 private:
  struct Item {
    Sample sample;
    std::vector<RuntimeAddr> kernel_chain;
    std::vector<RuntimeAddr> user_chain;
    const Process* process = nullptr;
    ProfileBuilder::Context context;
    UnwoundStack stack;
  };

  const ProcessTable& processes_;
  uint32_t max_depth_;
  WorkerPool& pool_;
  std::deque<PlaceCache> places_;  // by worker
  std::vector<Item> items_;        // the first size_ are the batch; all keep their memory
  size_t size_ = 0;
  uint64_t stack_bytes_ = 0;
};

}  // namespace jitprof
