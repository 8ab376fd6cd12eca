// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/end_to_end/jitprof_command.h"

namespace jitprof::tests {

// The chains that the truth program's sources say it spends its time in (tests/programs/README.md has the
// syntax).
class KnownChains {
 public:
  // `compiler` is "gcc" or "clang": chains marked for the other one are left out.
  explicit KnownChains(const std::string& compiler);

  // Whether the stack, from its outermost known root on and without the kernel frames at its leaf, is a known
  // chain. Frames are annotated ones (_[i], _[k]).
  bool matches(const FoldedStack& stack) const;
  // Whether the stack is the business of the known chains: it runs below one of their roots in user space.
  bool covers(const FoldedStack& stack) const;

 private:
  std::vector<std::string> below_root(const FoldedStack& stack) const;
  std::vector<std::vector<std::string>> chains_;
};

struct Share {
  uint64_t matching = 0;
  uint64_t covered = 0;
  std::string first_misses;  // for the test's message
  double percent() const {
    return covered == 0 ? 0 : 100.0 * static_cast<double>(matching) / static_cast<double>(covered);
  }
};
Share share_of_known(const KnownChains& chains, const std::vector<FoldedStack>& stacks);

}  // namespace jitprof::tests
