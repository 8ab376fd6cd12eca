// SPDX-License-Identifier: Apache-2.0
#include "base/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "tests/catch.h"

using namespace jitprof;

namespace {

// Pieces of work that each set their flag.
class Flags : public Backlog {
 public:
  explicit Flags(size_t count) : done_(count) {}

  bool do_one() override {
    size_t piece = next_++;
    if (piece >= done_.size()) return false;
    ++done_[piece];
    if (++finished_ == done_.size()) finished_.notify_all();
    return true;
  }
  void wait() {
    for (size_t now = finished_; now < done_.size(); now = finished_) finished_.wait(now);
  }
  bool each_once() const {
    return std::all_of(done_.begin(), done_.end(), [](const auto& count) { return count == 1; });
  }

 private:
  std::vector<std::atomic<int>> done_;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> finished_ = 0;
};

}  // namespace

TEST_CASE("shared work is done once, whoever does it") {
  unsigned jobs = GENERATE(1u, 2u, 5u);
  WorkerPool pool(jobs);
  CHECK(pool.jobs() == jobs);
  for (size_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> done(count);
    std::vector<std::atomic<int>> inside(jobs);
    std::atomic<bool> overlaps = false;
    pool.share(count, [&](size_t item, unsigned worker) {
      if (inside[worker]++ != 0) overlaps = true;
      ++done[item];
      --inside[worker];
    });
    CHECK(std::all_of(done.begin(), done.end(), [](const auto& times) { return times == 1; }));
    CHECK_FALSE(overlaps);
  }
}

TEST_CASE("threads work off a backlog, and a shared piece of work comes between") {
  WorkerPool pool(3);
  for (int round = 0; round < 50; ++round) {
    Flags backlog(100);
    pool.attach(backlog);
    pool.offer();
    std::atomic<int> shared = 0;
    pool.share(64, [&](size_t, unsigned) { ++shared; });
    CHECK(shared == 64);
    backlog.wait();
    pool.detach();
    CHECK(backlog.each_once());
  }
}

TEST_CASE("a backlog is left alone once it is detached") {
  WorkerPool pool(4);
  for (int round = 0; round < 200; ++round) {
    Flags backlog(1000);
    pool.attach(backlog);
    pool.offer();
    pool.detach();
  }
}
