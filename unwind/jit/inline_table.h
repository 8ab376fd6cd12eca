// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitprof {

// The line table of one JIT-compiled method into which its compiler inlined others. This is the decoder; the
// encoder, by which a VM writes the table, is in include/jitprof/jit.h.
//
// The entries are in the order of the code. `start` is the offset of a first instruction from the start of
// the code.
//
//       line       value
//   >= 0 (line)    start     from `start` on the code belongs to this line of the method that is open here
//     -2           start     opens the body of an inlined method, which starts at `start`
//   -3 - X         callee    before a close: the body was of this callee, called at line X of its caller
//     -1           start     closes the body that was opened at `start` (that start again, not its end)
//
// A close is followed by a line of the caller that starts at the first instruction after the body, or by the
// open of another body that starts there; also at the end of the code. Bodies nest, may be empty, and may
// begin with the open of another. Line 0 stands for a line that is not known.
//
//      outer() at lines 10 to 13 calls small() (20, 21) at line 12, and small() calls leaf() (30) at line 21:
//
//   10 @0   -2 @4   20 @4   -2 @9   30 @9   -3-21 leaf   -1 @9   21 @15   -3-12 small   -1 @4   12 @20
//
//           |------------------------- body of small, 4 to 20 ------------------------|
//                           |------ body of leaf, 9 to 15 -----|
//
// A look-up goes from the newest entry downwards to the first line that starts at or below the offset. So at
// equal starts the later entry counts, and an empty body never. A caller's position is its return address
// less one, as for all frames. Immutable, so any number of threads may ask.
class InlineTable {
 public:
  struct Entry {
    int32_t line = 0;
    uint32_t value = 0;
  };
  struct Callee {
    std::string name;
    std::string file;
  };
  // One method of a chain. The views are into the table.
  struct Frame {
    uint32_t callee = kMethod;  // which of the callees; equal for two bodies of one method
    std::string_view name;      // empty for the method itself: the code object has its name
    std::string_view file;      // empty: not known
    uint32_t line = 0;          // 0: not known
  };
  static constexpr uint32_t kMethod = UINT32_MAX;
  static constexpr int32_t kMaxLine = INT32_MAX - 2;  // the last one that -3 - X can express
  static constexpr uint32_t kMaxDepth = 256;  // bodies inside each other; HotSpot stops at 15 by default

  InlineTable() = default;
  // nullopt for a table that breaks a rule above, in whatever way: with it nothing is known but the method
  // itself. `file` is that of the method.
  static std::optional<InlineTable> make(std::span<const Entry> entries, uint32_t code_size, std::string file,
                                         std::vector<Callee> callees);

  bool empty() const { return ranges_.empty(); }
  // The methods at an offset into the code, innermost first, each at the line where it stands or calls the
  // one before. The last one is always the method itself.
  std::vector<Frame> lookup(uint32_t offset) const;

 private:
  class Builder;
  // What was inlined into what. The method itself is none.
  struct Body {
    uint32_t callee = 0;
    uint32_t parent = 0;  // index of the body around it, or kMethod
    uint32_t call_line = 0;
  };
  struct Range {
    uint32_t start = 0;
    uint32_t body = kMethod;
    uint32_t line = 0;
  };

  std::string file_;
  std::vector<Callee> callees_;
  std::vector<Body> bodies_;
  std::vector<Range> ranges_;  // by start, no two of one start; each ends where the next begins
};

}  // namespace jitprof
