// SPDX-License-Identifier: Apache-2.0
// A plug-in as the header of a later jitprof would make it: its sniffers have grown a member.
#include <jitprof/sniffer.h>

struct later_sniffer {
  struct jitprof_sniffer now;
  uint64_t later;
};

static uint32_t unwind(void* state, const struct jitprof_frame* frame, struct jitprof_answer* answer) {
  (void)state;
  (void)frame;
  (void)answer;
  return JITPROF_DECLINED;
}

static const struct later_sniffer kSniffers[] = {
    {{.name = "one", .locus = JITPROF_GLOBAL, .unwind = unwind}, UINT64_MAX},
    {{.name = "two", .locus = JITPROF_GLOBAL, .unwind = unwind}, UINT64_MAX},
};

const struct jitprof_sniffer_list jitprof_sniffers = {.version = JITPROF_SNIFFER_VERSION,
                                                      .sniffer_size = sizeof(struct later_sniffer),
                                                      .count = 2,
                                                      .sniffers = &kSniffers[0].now};
