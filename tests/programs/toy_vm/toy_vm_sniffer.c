// SPDX-License-Identifier: Apache-2.0
// Unwinds the frames of toy code. A recording has no bytes of anonymous memory, so where an instruction
// stands in its slot must say what is on the stack.
#include <jitprof/sniffer.h>
#include <stddef.h>

#include "toy_vm.h"

// A slot of the stack that is read for the answer. What lies behind the cut ends the walk as truncated;
// anything else that cannot be read is no toy frame.
static uint32_t without(enum jitprof_result result, struct jitprof_answer* answer) {
  if (result != JITPROF_BEHIND_CUT) return JITPROF_DECLINED;
  answer->stop = JITPROF_STOP_TRUNCATED;
  return JITPROF_ANSWERED;
}

static enum jitprof_result read_word(const struct jitprof_frame* frame, uint64_t position, uint64_t* word) {
  return frame->calls->read_stack(frame, position, word, sizeof *word);
}

// [0] the word at `cfa` - 8, which is the return address, then those below it.
static enum jitprof_result read_below(const struct jitprof_frame* frame, uint64_t cfa, uint64_t* words,
                                      unsigned count) {
  enum jitprof_result result = JITPROF_OK;
  for (unsigned i = 0; i < count && result == JITPROF_OK; ++i) {
    result = read_word(frame, cfa - 8 * (i + 1), &words[i]);
  }
  return result;
}

static void set_caller(struct jitprof_answer* answer, uint64_t cfa, uint64_t return_pc) {
  answer->cfa = cfa;
  jitprof_set_register(answer, JITPROF_RIP, return_pc);
  jitprof_set_register(answer, JITPROF_RSP, cfa);
}

// How many words the way in has on the stack above its return address. Calls come from the middle of it.
static unsigned entry_pushes_at(uint64_t at) {
  static const unsigned char kPushed[] = {0, 1, 2, 4, 6, 8, 10, kToyEntryPushed};  // after n pushes
  static const unsigned char kPopped[] = {kToyEntryDropped, 32, 34, 36, 38, 39, kToyReturnsToC};
  unsigned count = 0;
  while (count < 7 && at >= kPushed[count + 1]) ++count;
  for (unsigned i = 0; i < sizeof kPopped && at >= kPopped[i]; ++i) --count;
  return count;
}

static uint32_t leave_entry(const struct jitprof_frame* frame, uint64_t at, struct jitprof_answer* answer) {
  static const enum jitprof_register kSaved[] = {JITPROF_RBX, JITPROF_RBP, JITPROF_R12,
                                                 JITPROF_R13, JITPROF_R14, JITPROF_R15};
  uint64_t rsp = 0;
  if (frame->calls->read_register(frame, JITPROF_RSP, &rsp) != JITPROF_OK) return JITPROF_DECLINED;
  unsigned pushed = entry_pushes_at(at);
  uint64_t cfa = rsp + 8 * (pushed + 1);
  uint64_t words[8];
  enum jitprof_result result = read_below(frame, cfa, words, pushed + 1);
  if (result != JITPROF_OK) {
    answer->cfa = cfa;
    return without(result, answer);
  }
  if (pushed == 7 && words[7] != kToyEntry) return JITPROF_DECLINED;
  set_caller(answer, cfa, words[0]);
  for (unsigned i = 0; i < 6; ++i) {
    uint64_t value = 0;
    // What is not on the stack yet, or no longer, is still the caller's, or again.
    if (i < pushed) {
      jitprof_set_register(answer, kSaved[i], words[i + 1]);
    } else if (frame->calls->read_register(frame, kSaved[i], &value) == JITPROF_OK) {
      jitprof_set_register(answer, kSaved[i], value);
    }
  }
  return JITPROF_ANSWERED;
}

// Where the function's CFA is. `link_is_pushed`: r14 of the caller lies below the return address, otherwise
// it is in r14.
static uint64_t function_cfa(uint64_t at, uint64_t rsp, uint64_t r14, int* link_is_pushed) {
  *link_is_pushed = at > kToyPushesLink && at < kToyReturns;
  if (!*link_is_pushed) return rsp + 8;
  if (at == kToyPushesRecord) return rsp + 16;
  if (at == kToySetsLink) return rsp + 24;
  return r14 + 24;
}

static uint32_t leave_function(const struct jitprof_frame* frame, uint64_t at,
                               struct jitprof_answer* answer) {
  uint64_t rsp = 0, r14 = 0, record = 0, words[2];
  if (frame->calls->read_register(frame, JITPROF_RSP, &rsp) != JITPROF_OK ||
      frame->calls->read_register(frame, JITPROF_R14, &r14) != JITPROF_OK) {
    return JITPROF_DECLINED;
  }
  // r14 points to this frame's record or, at both its ends, to its caller's.
  enum jitprof_result result = read_word(frame, r14, &record);
  if (result == JITPROF_OK && record != kToyRecord && record != kToyEntry) return JITPROF_DECLINED;
  int link_is_pushed = 0;
  uint64_t cfa = function_cfa(at, rsp, r14, &link_is_pushed);
  if (result == JITPROF_OK) result = read_below(frame, cfa, words, link_is_pushed ? 2 : 1);
  if (result != JITPROF_OK) {
    answer->cfa = cfa;
    return without(result, answer);
  }
  set_caller(answer, cfa, words[0]);
  jitprof_set_register(answer, JITPROF_R14, link_is_pushed ? words[1] : r14);
  answer->code = frame->pc - at;
  return JITPROF_ANSWERED;
}

static uint32_t unwind(void* state, const struct jitprof_frame* frame, struct jitprof_answer* answer) {
  (void)state;
  const struct jitprof_code* code = frame->calls->describe_code(frame);
  if (code == NULL || code->kind != JITPROF_CODE_ANONYMOUS) return JITPROF_DECLINED;
  // No call ends a slot, so a return address lies in the slot of its call.
  uint64_t in_block = frame->pc % kToyBlock;
  if (in_block < kToySlot) return leave_entry(frame, in_block, answer);
  return leave_function(frame, in_block % kToySlot, answer);
}

static const struct jitprof_sniffer kSniffer = {
    .name = "toy-vm", .object = "toy_vm", .locus = JITPROF_PROGRAM_SPACE, .unwind = unwind};

const struct jitprof_sniffer_list jitprof_sniffers = {.version = JITPROF_SNIFFER_VERSION,
                                                      .sniffer_size = sizeof(struct jitprof_sniffer),
                                                      .count = 1,
                                                      .sniffers = &kSniffer};
