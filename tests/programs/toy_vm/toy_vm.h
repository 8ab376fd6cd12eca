// SPDX-License-Identifier: Apache-2.0
#pragma once

// A virtual machine with a stack layout of its own, for plug-in sniffers. It writes its code into anonymous
// memory: blocks of kToyBlock bytes at a multiple of kToyBlock, cut into slots. The first slot is the way in
// from C, each of the others one function.
//
// Toy code has no unwind information and uses rbp for numbers. r14 links its frames: it points to the last
// frame's record, which lies on the thread's own stack:
//
//     r14 + 16   return address
//     r14 + 8    the caller's r14
//     r14        kToyRecord, kToyEntry in the frame of the way in
//
// Of the registers that C wants back only rbp and r14 are ever changed, in toy functions. The way in pushes
// all six of them, then kToyEntry.
enum {
  kToyBlock = 1 << 16,
  kToySlot = 128,
  kToyFunctions = 3,
  kToyRecord = 0x70f0001,
  kToyEntry = 0x70f0002,
};

// Where instructions that change the stack stand in the slots of functions ...
enum {
  kToyPushesLink = 0,
  kToyPushesRecord = 2,
  kToySetsLink = 7,
  kToyTakesRoom = 10,  // for the function's local variables
  kToyPopsLink = kToySlot - 3,
  kToyReturns = kToySlot - 1,
};
// ... and in the way in, which pushes one word after the other up to kToyEntryPushed.
enum {
  kToyEntryPushed = 15,
  kToyEntryDropped = 30,  // kToyEntry is gone again
  kToyReturnsToC = 40,
};

// Writes the code. `leaf` is the C function that the deepest toy function calls, `spins` how long each of
// them counts before it goes on. Gives where the block starts.
unsigned char* toy_start(void (*leaf)(void), unsigned spins);

// Runs `depth` + 1 toy functions inside each other: the first calls the second, the last the first.
void toy_run(unsigned long depth);
