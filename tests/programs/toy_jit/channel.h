// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "method.h"

namespace toy {

// How code becomes known to profilers. What a channel has no words for it leaves out.
class Channel {
 public:
  // "header" (jit.h with all that it can say), "jitdump-cfi" (jit.h without records of its own), "gdb" or
  // "map". Null: there is no such one, or its file cannot be made.
  static std::unique_ptr<Channel> open(const std::string& name);
  virtual ~Channel() = default;

  // The code is at `start` and has not run there yet.
  virtual void publish(const Method& method, uint64_t start) = 0;
  // The code that was published last is at another place now, or gone.
  virtual void move(const Method& method, uint64_t from, uint64_t to) = 0;
  virtual void unload(const Method& method, uint64_t start) = 0;
  // All that a profiler needs frame pointers for.
  virtual bool tells_frames() const { return true; }
};

}  // namespace toy
