// SPDX-License-Identifier: Apache-2.0
// boost_context: a breakpoint (int3) in a function that a fiber of Boost.Context runs.

#include <boost/context/fiber.hpp>
#include <utility>

#define KEEP __attribute__((noipa))
#define NOT_A_TAIL_CALL() __asm__ volatile("" ::: "memory")

extern "C" {
KEEP void stops() {
  __asm__ volatile("int3" ::: "memory");
  NOT_A_TAIL_CALL();
}
KEEP void in_fiber() {
  stops();
  NOT_A_TAIL_CALL();
}
}

int main() {
  boost::context::fiber fiber([](boost::context::fiber&& outside) {
    in_fiber();
    return std::move(outside);
  });
  std::move(fiber).resume();
}
