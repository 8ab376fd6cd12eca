// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "toy_vm.h"

#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// void enter(function, depth): calls a toy function from C.
static const unsigned char kEntry[] = {
    0x53,                          //  0 push rbx
    0x55,                          //  1 push rbp
    0x41, 0x54,                    //  2 push r12
    0x41, 0x55,                    //  4 push r13
    0x41, 0x56,                    //  6 push r14
    0x41, 0x57,                    //  8 push r15
    0x68, 0x02, 0x00, 0x0f, 0x07,  // 10 push kToyEntry
    0x49, 0x89, 0xe6,              // 15 mov r14, rsp
    0x48, 0x89, 0xf8,              // 18 mov rax, rdi
    0x48, 0x89, 0xf7,              // 21 mov rdi, rsi
    0xff, 0xd0,                    // 24 call rax
    0x48, 0x83, 0xc4, 0x08,        // 26 add rsp, 8
    0x41, 0x5f,                    // 30 pop r15
    0x41, 0x5e,                    // 32 pop r14
    0x41, 0x5d,                    // 34 pop r13
    0x41, 0x5c,                    // 36 pop r12
    0x5d,                          // 38 pop rbp
    0x5b,                          // 39 pop rbx
    0xc3,                          // 40 ret
};

// function(depth in rdi). Numbers that differ between functions are zero here.
static const unsigned char kFunction[] = {
    0x41, 0x56,                                   //  0 push r14
    0x68, 0x01, 0x00, 0x0f, 0x07,                 //  2 push kToyRecord
    0x49, 0x89, 0xe6,                             //  7 mov r14, rsp
    0x48, 0x83, 0xec, 0,                          // 10 sub rsp, the size of its variables
    0x48, 0x89, 0x3c, 0x24,                       // 14 mov [rsp], rdi
    0xbd, 0x55, 0x55, 0x55, 0x55,                 // 18 mov ebp, 0x55555555
    0xb9, 0,    0,    0,    0,                    // 23 mov ecx, spins
    0xff, 0xc9,                                   // 28 dec ecx
    0x75, 0xfc,                                   // 30 jnz 28
    0x48, 0x85, 0xff,                             // 32 test rdi, rdi
    0x74, 0x0a,                                   // 35 jz 47
    0x48, 0xff, 0xcf,                             // 37 dec rdi
    0xe8, 0,    0,    0,    0,                    // 40 call the next function
    0xeb, 0x4a,                                   // 45 jmp 121
    0x48, 0xb8, 0,    0,    0,    0, 0, 0, 0, 0,  // 47 mov rax, leaf
    0xff, 0xd0,                                   // 57 call rax
    0xeb, 0x3c,                                   // 59 jmp 121
};
static const unsigned char kLeaveFunction[] = {
    0x49, 0x8d, 0x66, 0x08,  // 121 lea rsp, [r14 + 8]
    0x41, 0x5e,              // 125 pop r14
    0xc3,                    // 127 ret
};
enum { kRoomAt = 13, kSpinsAt = 24, kNextAt = 41, kLeafAt = 49, kLeavesAt = 121 };

static unsigned char* block;

static unsigned char* slot_of(unsigned function) { return block + kToySlot * (1 + function); }

static void write_function(unsigned function, void (*leaf)(void), unsigned spins) {
  unsigned char* code = slot_of(function);
  // An odd number of words keeps rsp where C wants it.
  unsigned char room = (unsigned char)(8 * (2 * function + 1));
  int32_t to_next = (int32_t)(slot_of((function + 1) % kToyFunctions) - (code + kNextAt + 4));
  memcpy(code, kFunction, sizeof kFunction);
  memcpy(code + kLeavesAt, kLeaveFunction, sizeof kLeaveFunction);
  memcpy(code + kRoomAt, &room, sizeof room);
  memcpy(code + kSpinsAt, &spins, sizeof spins);
  memcpy(code + kNextAt, &to_next, sizeof to_next);
  memcpy(code + kLeafAt, &leaf, sizeof leaf);
}

unsigned char* toy_start(void (*leaf)(void), unsigned spins) {
  void* room = mmap(NULL, 2 * kToyBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) abort();
  block = (unsigned char*)(((uintptr_t)room + kToyBlock - 1) / kToyBlock * kToyBlock);
  memcpy(block, kEntry, sizeof kEntry);
  for (unsigned function = 0; function < kToyFunctions; ++function) write_function(function, leaf, spins);
  if (mprotect(block, kToyBlock, PROT_READ | PROT_EXEC) != 0) abort();
  return block;
}

// Finds its own frame by rbp, because of alloca: who unwinds it must have got rbp back.
__attribute__((noinline)) void toy_run(unsigned long depth) {
  void (*enter)(void*, unsigned long);
  memcpy(&enter, &block, sizeof enter);
  volatile char* variable = alloca(depth % 16 + 16);
  variable[0] = 1;
  enter(slot_of(0), depth);
  variable[1] = 1;
}
