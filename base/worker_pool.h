// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace jitprof {

// Work that may be done ahead of the thread that will need it.
class Backlog {
 public:
  virtual ~Backlog() = default;
  // Does one piece of what is open; false when nothing is. Several threads call it at once.
  virtual bool do_one() = 0;
};

// Threads that help the one that owns the pool: with work it shares out and waits for, and, while there is
// none of that, with a backlog. Only the owner calls its functions.
class WorkerPool {
 public:
  // The owner and `jobs` - 1 threads.
  explicit WorkerPool(unsigned jobs);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  unsigned jobs() const { return static_cast<unsigned>(threads_.size()) + 1; }

  // Calls work(item, worker) for every item below `count`, in no order; worker < jobs() is the same only for
  // calls that do not overlap. The owner does its part; returns when all are done.
  using Work = FunctionRef<void(size_t item, unsigned worker)>;
  void share(size_t count, Work work);

  // One backlog at a time, until it is detached, which waits for the threads that are in it.
  void attach(Backlog& backlog);
  void detach();
  // There is more in the backlog.
  void offer();

 private:
  void run(unsigned worker);
  void do_items(const Work& work, size_t count, unsigned worker);

  std::mutex mutex_;
  std::condition_variable wake_;  // threads that have nothing to do
  std::condition_variable idle_;  // the owner, when it waits for them
  const Work* work_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_ = 0;  // item
  unsigned sharing_ = 0;          // threads inside work_
  Backlog* backlog_ = nullptr;
  unsigned in_backlog_ = 0;  // threads inside backlog_
  uint64_t offers_ = 0;
  bool is_over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace jitprof
