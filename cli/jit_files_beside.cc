// SPDX-License-Identifier: Apache-2.0
#include "cli/jit_files_beside.h"

#include "base/mapped_file.h"

namespace jitprof {
namespace {

bool is_file(std::string_view path) {
  return path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/memfd:") &&
         !path.starts_with("/dev/zero") && !path.ends_with(" (deleted)");
}

}  // namespace

std::optional<JitLog> JitFilesBeside::read_file_of(const MapEvent& mapping) {
  if (mapping.in_kernel) return std::nullopt;
  if (is_jitdump(mapping.path)) return read(mapping.pid, SideFileKind::kJitDump, mapping.path);
  if (!mapping.is_executable || is_file(mapping.path) || mapping.path == "[vdso]") return std::nullopt;
  return read(mapping.pid, SideFileKind::kPerfMap, "/tmp/perf-" + std::to_string(mapping.pid) + ".map");
}

std::optional<JitLog> JitFilesBeside::read(uint32_t pid, SideFileKind kind, const std::string& path) {
  if (!known_.insert({pid, path}).second) return std::nullopt;
  auto file = MappedFile::open(symfs_ + path);
  if (!file.ok()) return std::nullopt;
  JitCollector collector(has_monotonic_times_);
  collector.add_file(pid, kind, file.value().bytes());
  return collector.finish();
}

}  // namespace jitprof
