// SPDX-License-Identifier: Apache-2.0
#include "cli/jit_files_beside.h"

#include "base/mapped_file.h"

namespace jitprof {
namespace {

// V8 "./jit-PID.dump", JavaScriptCore "jit-NUMBER-PID.dump".
bool is_jitdump(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("jit-") && name.ends_with(".dump");
}

bool is_file(std::string_view path) {
  return path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/memfd:") &&
         !path.starts_with("/dev/zero") && !path.ends_with(" (deleted)");
}

}  // namespace

bool JitFilesBeside::add_files_of(const MapEvent& mapping, JitCollector& collector) {
  if (mapping.in_kernel) return false;
  if (is_jitdump(mapping.path)) return add_file(mapping.pid, SideFileKind::kJitDump, mapping.path, collector);
  if (!mapping.is_executable || is_file(mapping.path) || mapping.path == "[vdso]") return false;
  return add_file(mapping.pid, SideFileKind::kPerfMap, "/tmp/perf-" + std::to_string(mapping.pid) + ".map",
                  collector);
}

bool JitFilesBeside::add_file(uint32_t pid, SideFileKind kind, const std::string& path,
                              JitCollector& collector) {
  if (!added_.insert({pid, path}).second) return false;
  auto file = MappedFile::open(symfs_ + path);
  if (!file.ok()) return false;
  collector.add_file(pid, kind, file.value().bytes());
  return true;
}

}  // namespace jitprof
