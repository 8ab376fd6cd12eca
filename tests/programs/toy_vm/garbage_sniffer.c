// SPDX-License-Identifier: Apache-2.0
// A plug-in in order, of which -D makes one thing wrong: a field of the list or of its sniffer, or, by SPOIL,
// the answer that it gives to every question.
#include <jitprof/sniffer.h>
#include <stddef.h>

#ifndef LIST
#define LIST jitprof_sniffers
#endif
#ifndef VERSION
#define VERSION JITPROF_SNIFFER_VERSION
#endif
#ifndef SNIFFER_SIZE
#define SNIFFER_SIZE sizeof(struct jitprof_sniffer)
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef SNIFFERS
#define SNIFFERS &kSniffer
#endif
#ifndef NAME
#define NAME "garbage"
#endif
#ifndef LOCUS
#define LOCUS JITPROF_PROGRAM_SPACE
#endif
#ifndef OBJECT
#define OBJECT NULL
#endif
#ifndef UNWIND
#define UNWIND unwind
#endif
#ifndef SPOIL
#define SPOIL (void)0
#endif
#ifndef VERDICT
#define VERDICT JITPROF_ANSWERED
#endif

// The library does not load when this is asked for.
uint32_t defined_nowhere(void* state, const struct jitprof_frame* frame, struct jitprof_answer* answer);

__attribute__((unused)) static uint32_t unwind(void* state, const struct jitprof_frame* frame,
                                               struct jitprof_answer* answer) {
  (void)state;
  answer->cfa = frame->callee_cfa + 64;
  jitprof_set_register(answer, JITPROF_RIP, frame->pc);
  jitprof_set_register(answer, JITPROF_RSP, answer->cfa);
  SPOIL;
  return VERDICT;
}

__attribute__((unused)) static const struct jitprof_sniffer kSniffer = {
    .name = NAME, .object = OBJECT, .locus = LOCUS, .unwind = UNWIND};

const struct jitprof_sniffer_list LIST = {
    .version = VERSION, .sniffer_size = SNIFFER_SIZE, .count = COUNT, .sniffers = SNIFFERS};
