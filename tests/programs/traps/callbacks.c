// SPDX-License-Identifier: Apache-2.0
// callbacks NAME: a breakpoint (int3) in a function that something unusual has called: assembly without CFI
// (no_cfi.S), a second mapping of the program's own file. `assembly` is there to be stepped through.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP __attribute__((noipa))
#define NOT_A_TAIL_CALL() __asm__ volatile("" ::: "memory")

void without_cfi(void (*call)(void));
void without_cfi_by_frame_pointer(void (*call)(void));
void pushes(void (*call)(void));
void subtracts(void (*call)(void));
void leaves_early(void (*call)(void), long is_short);
void jumps_on(void (*call)(void));
void moves_pointer(void (*call)(void));
void has_no_size(void (*call)(void));
void thread_without_end(void (*call)(void), void* stack);

KEEP static void stops(void) {
  __asm__ volatile("int3" ::: "memory");
  NOT_A_TAIL_CALL();
}
KEEP static void called_back(void) {
  stops();
  NOT_A_TAIL_CALL();
}

// Refers to nothing by its own place, so that it also runs elsewhere; has a frame of some size.
KEEP void mapped_twice(void (*call)(void), long number) {
  volatile long kept[8] = {number};
  call();
  kept[1] = kept[0];
}

// The function of the same name in a second mapping of this file, as V8 makes one of its builtins: whole
// pages of the code, somewhere else.
typedef void (*Twice)(void (*)(void), long);
static Twice second_mapping(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long start, end, offset;
    char protection[5];
    if (sscanf(line, "%lx-%lx %4s %lx", &start, &end, protection, &offset) != 4) continue;
    if ((uintptr_t)mapped_twice < start || (uintptr_t)mapped_twice >= end) continue;
    int file = open("/proc/self/exe", O_RDONLY);
    char* other = mmap(NULL, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)offset);
    if (other == MAP_FAILED) abort();
    return (Twice)(other + ((uintptr_t)mapped_twice - start));
  }
  abort();
}

// Both mappings in one stack.
KEEP static void first_mapping(void) {
  mapped_twice(called_back, 1);
  NOT_A_TAIL_CALL();
}

KEEP static void leaf(void) { NOT_A_TAIL_CALL(); }

// Between two breakpoints, to be stepped through.
KEEP static void goes_through_assembly(void) {
  __asm__ volatile("int3" ::: "memory");
  pushes(leaf);
  subtracts(leaf);
  leaves_early(NULL, 0);
  leaves_early(leaf, 0);
  leaves_early(leaf, 1);
  jumps_on(leaf);
  moves_pointer(leaf);
  has_no_size(leaf);
  __asm__ volatile("int3" ::: "memory");
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "without_cfi")) without_cfi(called_back);
  if (!strcmp(what, "frame_pointer")) without_cfi_by_frame_pointer(called_back);
  if (!strcmp(what, "assembly")) goes_through_assembly();
  if (!strcmp(what, "second_mapping")) second_mapping()(first_mapping, argc);
  if (!strcmp(what, "without_end")) {
    static char stack[64 << 10];
    // Words of zero above the thread's first frame.
    thread_without_end(called_back, stack + sizeof stack - 256);
  }
  return 0;
}
