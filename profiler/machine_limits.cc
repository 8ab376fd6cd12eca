// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine_limits.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "profiler/fd.h"

namespace jitprof {
namespace {

// Beyond any file this is meant for.
constexpr size_t kSmallFile = 1 << 20;

}  // namespace

std::optional<std::string> read_small_file(const std::string& path) {
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::string text;
  char buffer[4096];
  ssize_t got;
  while (text.size() < kSmallFile && (got = read(file.number(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, got);
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<int64_t> sysctl_number(const std::string& name) {
  std::optional<std::string> text = read_small_file("/proc/sys/" + name);
  if (!text) return std::nullopt;
  int64_t number = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::string status_field(uint32_t pid, const std::string& name) {
  std::string path = pid == 0 ? "/proc/self/status" : "/proc/" + std::to_string(pid) + "/status";
  std::string text = "\n" + read_small_file(path).value_or("");
  size_t start = text.find("\n" + name + ":");
  if (start == std::string::npos) return "";
  start = text.find_first_not_of(" \t", start + name.size() + 2);
  if (start == std::string::npos) return "";
  return text.substr(start, text.find('\n', start) - start);
}

bool has_capability(unsigned number) {
  return (std::strtoull(status_field(0, "CapEff").c_str(), nullptr, 16) >> number) & 1;
}

bool may_monitor() { return has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN); }

bool has_seccomp_filter() { return status_field(0, "Seccomp") == "2"; }

std::vector<uint32_t> online_cpus() {
  std::vector<uint32_t> cpus;
  // "0-3,8,10-11"
  std::string text = read_small_file("/sys/devices/system/cpu/online").value_or("");
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    uint32_t first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc()) break;
    uint32_t last = first;
    if (parsed.ptr < end && *parsed.ptr == '-') parsed = std::from_chars(parsed.ptr + 1, end, last);
    for (uint32_t cpu = first; cpu <= last && cpus.size() < 65536; ++cpu) cpus.push_back(cpu);
    at = parsed.ptr + 1;
  }
  if (cpus.empty()) {
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); ++cpu) cpus.push_back(static_cast<uint32_t>(cpu));
  }
  return cpus;
}

uint64_t memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace jitprof
