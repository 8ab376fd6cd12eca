// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

// Measures how much of its stack a thread really used, library and signal frames included: paints the unused
// part below the current frame when constructed and later looks for the lowest word that has changed. Both
// calls must be made on the measured thread. `top` is where the thread's stack begins: argv for the main
// thread (the kernel puts argc right below it and starts _start there), thread_stack_top() for others.
class PaintedStack {
 public:
  explicit PaintedStack(const void* top) : top_(reinterpret_cast<std::uintptr_t>(top)), lowest_(paint()) {}

  // Bytes between the top and the lowest word ever written; at least the painted 128 KiB if those did not
  // suffice.
  __attribute__((noinline)) std::size_t deepest() const {
    const volatile std::uint64_t* word = lowest_;
    asm volatile("" : "+r"(word));
    while (*word == kPaint) ++word;
    return top_ - reinterpret_cast<std::uintptr_t>(word);
  }

 private:
  static constexpr std::uint64_t kPaint = 0x9a1e7ed057ac4b17;
  static constexpr std::size_t kWords = 128 * 1024 / sizeof(std::uint64_t);

  // Paints below its own frame, not in a frame of 128 KiB: a sample taken meanwhile must not find a deeper
  // stack than the thread's work makes. The red zone is left alone.
  __attribute__((noinline)) static const volatile std::uint64_t* paint() {
    std::uintptr_t end = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - 256;
    auto* lowest = reinterpret_cast<volatile std::uint64_t*>(end - sizeof(std::uint64_t) * kWords);
    asm volatile("" : "+r"(lowest));
    for (std::size_t i = 0; i < kWords; ++i) lowest[i] = kPaint;
    return lowest;
  }

  std::uintptr_t top_;
  const volatile std::uint64_t* lowest_;
};

inline const void* thread_stack_top() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<char*>(low) + size;
}
