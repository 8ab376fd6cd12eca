// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "capture.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef WITHOUT_LIBGCC
#include <unwind.h>
#endif

enum { kMaxBytes = 65528, kMaxDepth = 4096 };

struct segment {
  uint64_t start;
  uint64_t size;
  uint64_t asked;
  unsigned char bytes[kMaxBytes];
};

static ucontext_t context;
static struct segment segments[2];
static unsigned segment_count;
static uint64_t pcs[kMaxDepth];
static unsigned depth;
static char maps[1 << 16];
static const char* asked_text;

#ifndef WITHOUT_LIBGCC
static _Unwind_Reason_Code add_pc(struct _Unwind_Context* frame, void* unused) {
  (void)unused;
  // The caller of a root comes as zero.
  if (_Unwind_GetIP(frame) != 0 && depth < kMaxDepth) pcs[depth++] = _Unwind_GetIP(frame);
  return _URC_NO_REASON;
}
#endif

static void read_maps(void) {
  FILE* file = fopen("/proc/self/maps", "r");
  size_t got = fread(maps, 1, sizeof maps - 1, file);
  maps[got] = 0;
  fclose(file);
}

static uint64_t end_of_mapping(uint64_t position) {
  for (char* line = strtok(strdup(maps), "\n"); line != NULL; line = strtok(NULL, "\n")) {
    unsigned long start, end;
    if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= position && position < end) return end;
  }
  return position;
}

static void copy_stack(uint64_t sp) {
  struct segment* segment = &segments[segment_count++];
  uint64_t available = end_of_mapping(sp) - sp;
  segment->start = sp;
  segment->asked = asked_text ? strtoul(asked_text, NULL, 10) : kMaxBytes;
  segment->size = available < segment->asked ? available : segment->asked;
  memcpy(segment->bytes, (const void*)sp, segment->size);
}

void capture(const ucontext_t* interrupted) {
  asked_text = getenv("OWN_STACK_BYTES");
  read_maps();
  getcontext(&context);
  copy_stack(context.uc_mcontext.gregs[REG_RSP]);
  if (interrupted) copy_stack(interrupted->uc_mcontext.gregs[REG_RSP]);
#ifndef WITHOUT_LIBGCC
  _Unwind_Backtrace(add_pc, NULL);
#endif
}

void print_capture(void) {
  // In the order of DWARF's numbers.
  static const int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                               REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  for (unsigned i = 0; i < sizeof kOrder / sizeof kOrder[0]; ++i) {
    printf("register %x %llx\n", i, (unsigned long long)context.uc_mcontext.gregs[kOrder[i]]);
  }
  for (unsigned i = 0; i < depth; ++i) printf("pc %lx\n", pcs[i]);
  for (unsigned i = 0; i < segment_count; ++i) {
    printf("stack %lx %lx ", segments[i].start, segments[i].asked);
    for (uint64_t at = 0; at < segments[i].size; ++at) printf("%02x", segments[i].bytes[at]);
    printf("\n");
  }
  for (char* line = strtok(maps, "\n"); line != NULL; line = strtok(NULL, "\n")) printf("map %s\n", line);
}
