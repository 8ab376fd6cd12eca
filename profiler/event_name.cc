// SPDX-License-Identifier: Apache-2.0
#include "profiler/event_name.h"

#include <linux/perf_event.h>

namespace jitprof {
namespace {

struct Known {
  const char* name;
  uint32_t type;
  uint64_t config;
  const char* alias;
};

constexpr Known kKnown[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles"},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, ""},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, ""},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, ""},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branch-instructions"},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, ""},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, ""},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, ""},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, ""},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, ""},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, ""},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "faults"},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, ""},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, ""},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "cs"},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "migrations"},
};

std::string known_names() {
  std::string names;
  for (const Known& known : kKnown) names += std::string(names.empty() ? "" : ", ") + known.name;
  return names;
}

}  // namespace

Result<EventName> parse_event_name(const std::string& text) {
  size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  std::string modifier = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const Known& known : kKnown) {
    if (name != known.name && (name.empty() || name != known.alias)) continue;
    if (colon != std::string::npos && modifier != "u" && modifier != "k") {
      return Error{"event '" + text + "': the modifier is u (user code only) or k (kernel code only)"};
    }
    return EventName{known.name, known.type, known.config, modifier == "u", modifier == "k"};
  }
  return Error{"event '" + text + "' is not known; known are " + known_names()};
}

}  // namespace jitprof
