// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

// Takes a sample of the calling thread: its registers and up to OWN_STACK_BYTES (environment; default 65528)
// of its stack, the program counters that libgcc's unwinder finds (not with -DWITHOUT_LIBGCC), and
// /proc/self/maps. One per run. `interrupted`, when not NULL, adds the stack that a handler on an alternate
// stack interrupted.
void capture(const ucontext_t* interrupted);

// Prints what was captured, one "word value…" a line; numbers are hexadecimal.
void print_capture(void);

// Keeps the call before it from becoming a jump.
#define NOT_A_TAIL_CALL() __asm__ volatile("" ::: "memory")
