// SPDX-License-Identifier: Apache-2.0
#include "base/worker_pool.h"

#include "base/result.h"

namespace jitprof {

WorkerPool::WorkerPool(unsigned jobs) {
  for (unsigned worker = 1; worker < jobs; ++worker) threads_.emplace_back([this, worker] { run(worker); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    JP_CHECK(backlog_ == nullptr);
    is_over_ = true;
  }
  wake_.notify_all();
}

void WorkerPool::share(size_t count, Work work) {
  if (threads_.empty() || count < 2) {
    for (size_t item = 0; item < count; ++item) work(item, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
  }
  wake_.notify_all();
  do_items(work, count, 0);
  std::unique_lock lock(mutex_);
  work_ = nullptr;
  idle_.wait(lock, [this] { return sharing_ == 0; });
}

void WorkerPool::do_items(const Work& work, size_t count, unsigned worker) {
  for (size_t item = next_++; item < count; item = next_++) work(item, worker);
}

void WorkerPool::attach(Backlog& backlog) {
  std::lock_guard lock(mutex_);
  JP_CHECK(backlog_ == nullptr);
  backlog_ = &backlog;
}

void WorkerPool::detach() {
  std::unique_lock lock(mutex_);
  backlog_ = nullptr;
  idle_.wait(lock, [this] { return in_backlog_ == 0; });
}

void WorkerPool::offer() {
  {
    std::lock_guard lock(mutex_);
    ++offers_;
  }
  wake_.notify_all();
}

void WorkerPool::run(unsigned worker) {
  std::unique_lock lock(mutex_);
  uint64_t exhausted_at = 0;  // the offer after which this thread found the backlog empty
  while (!is_over_) {
    if (work_ != nullptr && next_ < count_) {
      ++sharing_;
      const Work& work = *work_;
      size_t count = count_;
      lock.unlock();
      do_items(work, count, worker);
      lock.lock();
      if (--sharing_ == 0) idle_.notify_all();
    } else if (backlog_ != nullptr && exhausted_at != offers_) {
      ++in_backlog_;
      Backlog& backlog = *backlog_;
      uint64_t offer = offers_;
      lock.unlock();
      bool has_more = backlog.do_one();
      lock.lock();
      if (!has_more) exhausted_at = offer;
      if (--in_backlog_ == 0) idle_.notify_all();
    } else {
      wake_.wait(lock);
    }
  }
}

}  // namespace jitprof
