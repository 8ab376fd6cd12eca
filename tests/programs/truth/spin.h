// SPDX-License-Identifier: Apache-2.0
#pragma once

// What keeps the chains of the truth programs the same under g++ and clang++ at -O2. See ../README.md for the
// syntax of the chain comments.

// A function that stays a frame of its own under its own name. noipa also stops g++ from making .constprop
// and .isra clones and from folding functions with equal bodies into one; clang does neither at -O2.
#if defined(__clang__)
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

#define INLINED inline __attribute__((always_inline))

// After a call that would otherwise be the last thing a function does and become a jump.
#define NOT_A_TAIL_CALL() asm volatile("" ::: "memory")

// A value no compiler may know.
#define OPAQUE(variable) asm volatile("" : "+r"(variable))

// Spends about 100 us per unit in the very function that says so: a macro, since a function would be one more
// frame. The barrier in each step keeps the loop from being folded, unrolled into nothing or vectorised.
#define SPIN(units)                                                      \
  do {                                                                   \
    unsigned long spin_state = 88172645463325252ul;                      \
    for (long spin_left = (units)*50000l; spin_left != 0; --spin_left) { \
      spin_state ^= spin_state << 13;                                    \
      spin_state ^= spin_state >> 7;                                     \
      spin_state ^= spin_state << 17;                                    \
      OPAQUE(spin_state);                                                \
    }                                                                    \
  } while (0)
