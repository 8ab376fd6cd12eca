// SPDX-License-Identifier: Apache-2.0
// A thread of its own for each turn; its chain begins at its thread function.
//
// chain: second_thread::body;second_thread::work;second_thread::leaf

#include <pthread.h>

#include "../deepest_stack.h"
#include "phenomena.h"
#include "spin.h"

namespace second_thread {

unsigned long deepest;

KEEP void leaf() { SPIN(1); }

KEEP void work(int units) {
  for (int i = 0; i < units; ++i) leaf();
}

// Only the first thread measures: painting costs as much as half a unit.
KEEP void* body(void* units) {
  if (deepest != 0) {
    work(*static_cast<int*>(units));
    return nullptr;
  }
  const PaintedStack stack(thread_stack_top());
  work(*static_cast<int*>(units));
  deepest = stack.deepest();
  return nullptr;
}

KEEP void run(int units) {
  pthread_t thread;
  pthread_create(&thread, nullptr, body, &units);
  pthread_join(thread, nullptr);
}

unsigned long deepest_stack() { return deepest; }

}  // namespace second_thread
