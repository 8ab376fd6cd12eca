// SPDX-License-Identifier: Apache-2.0
// Makes every call that a plug-in has, about the frames of a toy_vm that sampled itself, and declines. What
// was not as sniffer.h says stands in probe_failure.
#include <jitprof/sniffer.h>
#include <stddef.h>
#include <string.h>

const char* probe_failure = NULL;
unsigned probe_native_frames = 0;
unsigned probe_toy_frames = 0;

#define EXPECT(condition) \
  if (!(condition)) probe_failure = #condition

static void probe_registers(const struct jitprof_frame* frame) {
  const struct jitprof_calls* calls = frame->calls;
  uint64_t value = 0, named = 0;
  EXPECT(calls->read_register(frame, JITPROF_RIP, &value) == JITPROF_OK && value == frame->pc);
  EXPECT(calls->read_register(frame, JITPROF_RSP, &value) == JITPROF_OK && value == frame->callee_cfa);
  EXPECT(calls->read_register(frame, JITPROF_R14, &value) == JITPROF_OK);
  EXPECT(calls->read_named_register(frame, "r14", &named) == JITPROF_OK && named == value);
  value = 7;
  EXPECT(calls->read_register(frame, JITPROF_REGISTER_COUNT, &value) == JITPROF_NO_SUCH_REGISTER);
  EXPECT(calls->read_register(frame, UINT32_MAX, &value) == JITPROF_NO_SUCH_REGISTER);
  EXPECT(calls->read_named_register(frame, "R14", &value) == JITPROF_NO_SUCH_REGISTER);
  EXPECT(calls->read_named_register(frame, "", &value) == JITPROF_NO_SUCH_REGISTER);
  EXPECT(value == 7);
}

static void probe_stack(const struct jitprof_frame* frame) {
  const struct jitprof_calls* calls = frame->calls;
  uint64_t word = 0;
  unsigned char bytes[11] = {0};
  EXPECT(calls->read_stack(frame, frame->callee_cfa - 8, &word, 8) == JITPROF_OK && word == frame->pc);
  EXPECT(calls->read_stack(frame, frame->callee_cfa - 8, bytes, sizeof bytes) == JITPROF_OK);
  EXPECT(memcmp(bytes, &word, 8) == 0);
  EXPECT(calls->read_stack(frame, frame->callee_cfa, bytes, 0) == JITPROF_OK);
  EXPECT(calls->read_stack(frame, 8, &word, 8) == JITPROF_UNREADABLE);
  EXPECT(calls->read_stack(frame, UINT64_MAX - 3, &word, 8) == JITPROF_UNREADABLE);
  // No reading into nothing: what is not all there is not stored.
  EXPECT(calls->read_stack(frame, frame->callee_cfa, NULL, UINT64_MAX) != JITPROF_OK);
  EXPECT(word == frame->pc);
}

static uint32_t probe_native(void* state, const struct jitprof_frame* frame, struct jitprof_answer* answer) {
  (void)answer;
  const struct jitprof_calls* calls = frame->calls;
  const struct jitprof_code* code = calls->describe_code(frame);
  const char* slash = code ? strrchr(code->path, '/') : NULL;
  unsigned char bytes[16];
  ++probe_native_frames;
  EXPECT(state == &probe_native_frames);
  EXPECT(code->kind == JITPROF_CODE_FILE && slash != NULL && strcmp(slash, "/toy_vm") == 0);
  EXPECT(code->build_id != NULL && code->build_id_size == 20);
  EXPECT(code->mapping_start < frame->pc && frame->pc <= code->mapping_end);
  EXPECT(code->position < 1 << 20);
  EXPECT(calls->read_code(frame, frame->pc, bytes, sizeof bytes) == sizeof bytes);
  if (!frame->is_exact) {
    // The displacement of a call to something near ends in all zeros or all ones.
    EXPECT(calls->read_code(frame, frame->pc - 5, bytes, 5) == 5 && (bytes[4] == 0 || bytes[4] == 0xff));
  }
  EXPECT(calls->read_code(frame, code->mapping_end - 1, bytes, sizeof bytes) <= 1);
  EXPECT(calls->read_code(frame, 8, bytes, sizeof bytes) == 0);
  return JITPROF_DECLINED;
}

static uint32_t probe_toy(void* state, const struct jitprof_frame* frame, struct jitprof_answer* answer) {
  const struct jitprof_code* code = frame->calls->describe_code(frame);
  const unsigned char* unset = (const unsigned char*)answer + sizeof answer->struct_size;
  unsigned char byte = 0;
  ++probe_toy_frames;
  EXPECT(state == NULL);
  EXPECT(frame->struct_size == sizeof *frame && frame->calls->struct_size == sizeof *frame->calls);
  EXPECT(answer->struct_size == sizeof *answer && code->struct_size == sizeof *code);
  for (size_t i = 0; i < sizeof *answer - sizeof answer->struct_size; ++i) EXPECT(unset[i] == 0);
  EXPECT(!frame->is_exact && !frame->is_top);
  EXPECT(code->kind == JITPROF_CODE_ANONYMOUS && code->build_id == NULL && code->build_id_size == 0);
  EXPECT(code->position == frame->pc - 1);
  EXPECT(frame->calls->read_code(frame, frame->pc, &byte, 1) == 0);
  probe_registers(frame);
  probe_stack(frame);
  return JITPROF_DECLINED;
}

static const struct jitprof_sniffer kSniffers[] = {
    {.name = "probe-native",
     .object = "toy_vm",
     .locus = JITPROF_OBJECT_FILE,
     .state = &probe_native_frames,
     .unwind = probe_native},
    {.name = "probe-toy", .object = "toy_vm", .locus = JITPROF_PROGRAM_SPACE, .unwind = probe_toy},
};

const struct jitprof_sniffer_list jitprof_sniffers = {.version = JITPROF_SNIFFER_VERSION,
                                                      .sniffer_size = sizeof(struct jitprof_sniffer),
                                                      .count = 2,
                                                      .sniffers = kSniffers};
