// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jitprof {

// What this machine says about itself, read afresh at each call.

// A file below /proc or /sys as text without its last newline; nullopt when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);
// The number in /proc/sys/NAME ("kernel/perf_event_paranoid"); nullopt when there is none.
std::optional<int64_t> sysctl_number(const std::string& name);
// The value behind "NAME:" in /proc/PID/status ("NSpid", "Seccomp"), without leading blanks; "" when there is
// none. pid 0 is this process.
std::string status_field(uint32_t pid, const std::string& name);

// CAP_PERFMON, CAP_SYS_ADMIN, … in our effective set.
bool has_capability(unsigned number);
// What perf_event_open asks for beyond a process' own user-space events.
bool may_monitor();
// Whether a seccomp filter is on us, as containers have by default.
bool has_seccomp_filter();

// Numbers of the CPUs that are online.
std::vector<uint32_t> online_cpus();
uint64_t memory_bytes();

}  // namespace jitprof
