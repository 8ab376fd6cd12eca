// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "../../../include/jitprof/jit.h"
#include "method.h"

namespace toy {

// What jit.h wants to be told of a method, made from what the method says of itself.
class Published {
 public:
  explicit Published(const Method& method);
  ~Published() { jitprof_inline_free(&inlines_); }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // Everything; `method` must still be there.
  jitprof_jit_code code(uint64_t start) const;
  const jitprof_inline_table& inlines() const { return inlines_; }

 private:
  const Method& method_;
  std::vector<jitprof_frame_row> rows_;
  std::vector<jitprof_line> lines_;
  jitprof_inline_table inlines_;
};

}  // namespace toy
